import CommandSupport

/// Gathers records that come one by one from somewhere else, and prints them.
struct RecordPrinter: Sendable {
    private var pending: [UInt8] = []

    /// Prints a record that `body` writes.
    mutating func print(_ body: (inout OutputBuffer) -> Void) {
        var buffer = OutputBuffer()
        body(&buffer)
        pending += buffer.bytes
        if pending.count > 32768 { flush() }
    }

    /// Prints what is left.
    mutating func flush() {
        StandardOutput.shared.write(pending)
        pending.removeAll(keepingCapacity: true)
    }
}
