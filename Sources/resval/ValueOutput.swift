import CommandSupport
import ResourceValues

/// Prints the values of one key.
struct ValueOutput: ~Copyable {
    let key: ResourceKey
    let form: RecordOptions.Form
    let showsPath: Bool
    private var buffer = OutputBuffer()

    init(key: ResourceKey, form: RecordOptions.Form, showsPath: Bool) {
        self.key = key
        self.form = form
        self.showsPath = showsPath
    }

    /// Prints a value; nil prints nothing except in JSON.
    mutating func write(_ value: ResourceValue?, of path: UnsafeBufferPointer<UInt8>) {
        if form == .json { return writeObject(value, nil, path) }
        guard let value else { return }
        if showsPath {
            buffer.append(name: path, in: form)
            buffer.append(": ")
        }
        buffer.append(value)
        buffer.endRecord(in: form)
    }

    /// Reports an error on standard error; in JSON also as an object without a value.
    mutating func write(_ error: FileError, of path: UnsafeBufferPointer<UInt8>) {
        if form == .json { writeObject(nil, error, path) }
        Messages.write(error, at: path)
    }

    mutating func flush() { buffer.flush() }

    private mutating func writeObject(
        _ value: ResourceValue?, _ error: FileError?, _ path: UnsafeBufferPointer<UInt8>
    ) {
        var line = JSONLine()
        line.add(path: Array(path))
        line.add("key", key.name)
        line.add("value", value)
        line.add("error", error?.code.description)
        line.end(in: &buffer)
    }
}
