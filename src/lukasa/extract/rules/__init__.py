"""extract.rules"""
