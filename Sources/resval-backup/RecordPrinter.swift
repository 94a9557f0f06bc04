import CommandSupport

/// Collects records that arrive one by one, and prints them in batches.
struct RecordPrinter: Sendable {
    private var pending: [UInt8] = []

    /// Prints a record that `body` writes.
    mutating func print(_ body: (inout OutputBuffer) -> Void) {
        var buffer = OutputBuffer()
        body(&buffer)
        pending += buffer.bytes
        if pending.count > 32768 { flush() }
    }

    /// Prints the records that are still pending.
    mutating func flush() {
        StandardOutput.shared.write(pending)
        pending.removeAll(keepingCapacity: true)
    }
}
