import SystemCalls
import SystemPackage

extension TreeEntry {
    /// Calls `body` with an entry that no walk came to.
    ///
    /// - Parameters:
    ///   - target: leads system calls to it.
    ///   - name: what it is called, whatever `target` says.
    ///   - parentPath: the path of the directory that holds it.
    ///   - kind: what kind of file it is.
    ///   - inode: its inode number.
    ///   - depth: how many levels below the root of a walk it is taken to be.
    package static func make<Result>(
        at target: CallTarget, named name: [UInt8], in parentPath: [UInt8], kind: FileKind,
        inode: UInt64, depth: Int, _ body: (borrowing TreeEntry) -> Result
    ) -> Result {
        let paths = PathBuffer()
        let slash = UInt8(ascii: "/")
        paths.enter { parentPath.last == slash ? parentPath : parentPath + [slash] }
        let characters = name.map { CChar(bitPattern: $0) } + [0]
        return characters.withUnsafeBufferPointer { characters in
            let entry = TreeEntry(
                target: target, name: characters.baseAddress.unsafelyUnwrapped,
                nameLength: name.count, paths: paths, kind: kind, inode: inode, depth: depth)
            return body(entry)
        }
    }
}
