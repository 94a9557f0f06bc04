import SystemPackage

/// Subdirectories of one directory that wait to be opened, in the order to open them.
struct ChildBatch<Context: Sendable>: Sendable {
    let parent: DirectoryNode<Context>
    /// The names, each NUL-terminated, one after another.
    private var names: [CChar] = []
    private var contexts: [Context] = []
    private var firstName = 0
    private var firstContext = 0

    init(parent: DirectoryNode<Context>) {
        self.parent = parent
    }

    var count: Int { contexts.count - firstContext }

    var isEmpty: Bool { count == 0 }

    mutating func append(_ name: UnsafePointer<CChar>, length: Int, context: Context) {
        names.append(contentsOf: UnsafeBufferPointer(start: name, count: length + 1))
        contexts.append(context)
    }

    mutating func removeFirst() -> (name: FilePath, context: Context) {
        let rest = names[firstName...]
        let end = rest.firstIndex(of: 0) ?? rest.endIndex - 1
        let name = FilePath(platformString: Array(rest[...end]))
        firstName = end + 1
        firstContext += 1
        return (name, contexts[firstContext - 1])
    }
}
