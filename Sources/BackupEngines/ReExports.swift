// Names used all over this module: JSONScanner and its like.
@_exported import TextFormats
