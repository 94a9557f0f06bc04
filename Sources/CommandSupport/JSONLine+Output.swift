// Commands that import this module print JSON, and need not import TextFormats too.
@_exported import TextFormats

extension JSONLine {
    /// Ends the object and adds it to a buffer as one record, with a newline.
    package consuming func end(in buffer: inout OutputBuffer) {
        buffer.append(bytes: ended())
        buffer.endRecord()
    }
}
