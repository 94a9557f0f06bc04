// Commands print JSON, and need not say so twice.
@_exported import TextFormats

extension JSONLine {
    /// Ends the object and adds it, with a newline, to a buffer as one record.
    public consuming func end(in buffer: inout OutputBuffer) {
        buffer.append(bytes: ended())
        buffer.endRecord()
    }
}
