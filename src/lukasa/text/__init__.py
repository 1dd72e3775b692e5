"""Words of any language: cleaning, tokens, language, sentences, times."""
