import ResourceValues
import SystemCalls
import SystemPackage

/// Stores the extended attributes that restic could not store without reporting it: those of
/// read-only files and directories when an ordinary user runs it, and those a filesystem does not
/// accept.
struct AttributeRestorer {
    private let restic: Restic
    private let tree: TargetTree
    /// The identifiers of the trees of the directories read so far, by path.
    private var trees: [[UInt8]: String]
    /// Items whose attributes could not be stored.
    private(set) var failures: [RestoreFailure] = []

    init(_ restic: Restic, _ snapshot: Snapshot, target: FilePath) throws(Errno) {
        self.restic = restic
        tree = try TargetTree(target)
        trees = [[UInt8(ascii: "/")]: snapshot.root]
    }

    /// Stores the missing attributes of some entries of a directory.
    mutating func restore(
        _ names: Set<[UInt8]>, in directory: [UInt8]
    ) async throws(BackupError) {
        guard let identifier = try await treeIdentifier(of: directory) else {
            throw BackupError(.unexpectedAnswer, "a directory of the snapshot cannot be found")
        }
        for node in try await nodes(of: identifier, at: directory)
        where names.contains(node.name) && !node.attributes.isEmpty {
            let path = joined(directory, node.name)
            do throws(Errno) {
                let file = try tree.openItem(path)
                if let cause = storeAttributes(node.attributes, on: file.descriptor) {
                    failures.append(RestoreFailure(path: path, cause: cause))
                }
            } catch {
                failures.append(RestoreFailure(path: path, cause: .attributes("\(error)")))
            }
        }
    }

    /// Returns the tree of a directory, found from its nearest known ancestor; nil when there is
    /// none.
    private mutating func treeIdentifier(
        of directory: [UInt8]
    ) async throws(BackupError) -> String? {
        var path = [UInt8(ascii: "/")]
        for name in directory.split(separator: UInt8(ascii: "/")) {
            let next = joined(path, Array(name))
            if trees[next] == nil, let identifier = trees[path] {
                _ = try await nodes(of: identifier, at: path)
            }
            path = next
        }
        return trees[path]
    }

    private mutating func nodes(
        of identifier: String, at path: [UInt8]
    ) async throws(BackupError) -> [TreeNode] {
        let nodes = try await restic.nodes(ofTree: identifier)
        for node in nodes {
            if let subtree = node.subtree { trees[joined(path, node.name)] = subtree }
        }
        return nodes
    }

    private func joined(_ directory: [UInt8], _ name: [UInt8]) -> [UInt8] {
        directory + (directory.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]) + name
    }
}

/// Stores the attributes that a restored item lacks, or has with other values.
///
/// - Returns: why that failed; nil if it did not.
func storeAttributes(
    _ attributes: [ExtendedAttributeName: [UInt8]], on file: FileDescriptor
) -> RestoreFailure.Cause? {
    do {
        let status = try file.status()
        let missing = try attributes.filter { name, value in
            guard isRestored(name) else { return false }
            return try file.extendedAttribute(named: name) != value
        }
        guard !missing.isEmpty else { return nil }
        var failure: FileError?
        try whileWritable(file, status) { () throws(Errno) in
            for (name, value) in missing {
                do throws(FileError) {
                    try file.setExtendedAttribute(named: name, to: value)
                } catch {
                    failure = error
                }
            }
        }
        return failure.map { .init($0, storingAttributesOn: file) }
    } catch let error as FileError {
        return .init(error, storingAttributesOn: file)
    } catch {
        return .attributes("\(error)")
    }
}

/// Whether an attribute must be restored: an ordinary user cannot set those of other namespaces,
/// and the kernel sets `security.selinux` by its own rules.
private func isRestored(_ name: ExtendedAttributeName) -> Bool {
    if effectiveUser() == 0 { return !name.bytes.elementsEqual("security.selinux".utf8) }
    return name.bytes.starts(with: "user.".utf8)
        || name.bytes.starts(with: "system.posix_acl_".utf8)
}
