import SystemCalls
import SystemPackage

/// Removes an item and its contents, by name and without following links.
///
/// - Throws: the first errno; what was not removed before then stays.
package func removeTree(_ name: FilePath, in directory: OpenDirectory) throws(Errno) {
    var walk = DirectoryWalk(in: directory, names: EntryNames([name.bytes]), context: ())
    while let step = try walk.next() {
        switch step {
        case .entry(let name):
            guard try walk.directory.status(of: name).kind == .directory else {
                try walk.directory.remove(name)
                continue
            }
            let entered = try walk.directory.openDirectory(name)
            // Makes the directory writable so that its entries can be removed. Another user's
            // directory cannot be changed, but may permit removal.
            try? changeMode(0o700, of: entered.descriptor)
            walk.enter(entered, names: try entered.names(), context: ())
        case .end(let name, _):
            try walk.directory.remove(name, isDirectory: true)
        }
    }
}
