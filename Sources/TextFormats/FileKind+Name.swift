import SystemCalls

extension FileKind {
    /// The kind's name in JSON output and in manifests, where it is stored.
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

    /// Creates the kind with a name; `unknown` for any other text.
    package init(name: String) {
        self = Self.allCases.first { $0.name == name } ?? .unknown
    }
}
