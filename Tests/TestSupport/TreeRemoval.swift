import SystemCalls
import SystemPackage

/// Removes a directory and all below it, of any depth and whatever the permissions.
///
/// Instead of descending, it moves each directory's own directories up to the top before it removes
/// it, so that neither the depth nor the number of open descriptors has a limit.
package func removeTree(at path: FilePath) throws {
    let root = try DirectoryHandle(at: path)
    var moved = 0
    var names = try root.names()
    while !names.isEmpty {
        for name in names {
            try flatten(name, in: root, &moved)
        }
        names = try root.names()
    }
    let parent = try DirectoryHandle(at: path.removingLastComponent())
    try parent.remove(FileName(path.lastComponent?.bytes ?? []), isDirectory: true)
}

/// Removes one entry of the top directory; what is a directory inside it moves to the top.
private func flatten(
    _ name: FileName, in root: borrowing DirectoryHandle, _ moved: inout Int
) throws {
    guard try root.location(name).status().kind == .directory else {
        return try root.remove(name, isDirectory: false)
    }
    try root.setPermissions(name, 0o700)
    let directory = try root.openDirectory(name)
    for child in try directory.names() {
        if try directory.location(child).status().kind == .directory {
            // Moving a directory changes its "..", which needs write permission on it.
            try directory.setPermissions(child, 0o700)
            moved += 1
            try directory.move(child, to: root, as: ".moved-\(moved)")
        } else {
            try directory.remove(child, isDirectory: false)
        }
    }
    try root.remove(name, isDirectory: true)
}
