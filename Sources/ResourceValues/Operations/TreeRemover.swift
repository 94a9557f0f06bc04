import SystemCalls
import SystemPackage

/// Removes an item and its contents, by name and without following links.
///
/// - Throws: the first errno; what was not removed before then stays.
package func removeTree(_ name: FilePath, in directory: FileDescriptor) throws(Errno) {
    let location = DirectoryEntryLocation(directory: directory, name: name)
    guard try location.status().kind == .directory else {
        return try removeItem(name, in: directory, isDirectory: false)
    }
    var remover = try TreeRemover(try openDirectory(name, in: directory))
    try remover.run()
    try removeItem(name, in: directory, isDirectory: true)
}

private struct TreeRemover: ~Copyable {
    private var cursor: DirectoryCursor
    private var levels: [(name: FilePath?, names: [FilePath])]

    init(_ directory: FileDescriptor) throws(Errno) {
        cursor = DirectoryCursor(directory)
        levels = []
        try enter(nil)
    }

    mutating func run() throws(Errno) {
        while let level = levels.indices.last {
            if let name = levels[level].names.popLast() {
                try remove(name)
            } else {
                let name = levels.removeLast().name
                guard let name else { return }
                try cursor.ascend()
                try removeItem(name, in: cursor.descriptor, isDirectory: true)
            }
        }
    }

    private mutating func remove(_ name: FilePath) throws(Errno) {
        let location = DirectoryEntryLocation(directory: cursor.descriptor, name: name)
        guard try location.status().kind == .directory else {
            return try removeItem(name, in: cursor.descriptor, isDirectory: false)
        }
        try cursor.descend(into: name)
        try enter(name)
    }

    private mutating func enter(_ name: FilePath?) throws(Errno) {
        // Makes the directory writable so that its entries can be removed. Another user's directory
        // cannot be changed, but may permit removal.
        try? changeMode(0o700, of: cursor.descriptor)
        levels.append((name, try cursor.names()))
    }
}
