"""Other people's archives of chats and memories, read as a stream in flat memory."""
