import SystemCalls
import SystemPackage

extension TreeEntry {
    /// Calls `body` with an entry that is not part of a walk.
    ///
    /// - Parameters:
    ///   - target: the arguments by which system calls reach it.
    ///   - name: its name, whatever `target` says.
    ///   - parentPath: the path of its directory.
    ///   - kind: its kind of file.
    ///   - inode: its inode number.
    ///   - depth: its number of levels below the root of an assumed walk.
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
