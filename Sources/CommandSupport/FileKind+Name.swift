import ResourceValues

extension FileKind {
    /// The kind's name in JSON output.
    package var name: String {
        switch self {
        case .regularFile: "file"
        case .directory: "directory"
        case .symbolicLink: "symbolicLink"
        case .fifo: "fifo"
        case .socket: "socket"
        case .characterDevice: "characterDevice"
        case .blockDevice: "blockDevice"
        case .unknown: "unknown"
        }
    }
}
