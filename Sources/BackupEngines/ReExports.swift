// Names used all over this module: JSONScanner, JSONError and JSONElements.
@_exported import JSONReading
