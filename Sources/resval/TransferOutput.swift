import CommandSupport
import StoragePolicy

/// Prints the marks written or removed; each thread has one.
final class TransferOutput {
    /// The state of a mark as printed in JSON.
    enum State: String { case written, planned, undone }

    private let isJSON: Bool
    private var buffer = OutputBuffer()

    init(isJSON: Bool) { self.isJSON = isJSON }

    func write(
        _ mark: WrittenMark, at path: [UInt8], from origins: Set<Marker>, _ state: State
    ) {
        let origins = origins.sorted().map(\.rawValue)
        if isJSON {
            var line = JSONLine()
            line.add("type", "mark")
            line.add(path: path)
            line.add("mark", mark.marker.rawValue)
            line.add("value", String(mark.assignment.split(separator: "=")[1]))
            line.add("from", strings: origins)
            line.add("state", state.rawValue)
            line.end(in: &buffer)
        } else {
            buffer.append(name: path)
            buffer.append(text: ": \(mark.assignment)")
            if state == .undone { buffer.append(" undone") }
            if !origins.isEmpty { buffer.append(text: " (from \(origins.joined(separator: ",")))") }
            buffer.append("\n")
            buffer.endRecord()
        }
    }

    func flush() { buffer.flush() }
}
