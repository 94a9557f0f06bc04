// Names used throughout this module, such as JSONScanner.
@_exported import TextFormats
