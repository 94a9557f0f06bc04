import FileTree
import SystemCalls
import SystemPackage

/// Checks everything in a directory unit: by the rules of the search, and for being in use.
struct CheckingVisitor: DepthFirstVisitor {
    private(set) var rules: UnitVisitor
    private(set) var contents: UnitContents
    private let patience: Patience

    init(_ rules: UnitVisitor, _ contents: UnitContents, _ patience: Patience) {
        self.rules = rules
        self.contents = contents
        self.patience = patience
    }

    mutating func visitItem(_ item: WalkedItem, in context: PurgeContext) throws(KeepReason) {
        let status = try item.status()
        // A file can be a mount point too, and then hides the file below.
        if status.isMountRoot == true { throw .mountPoint }
        guard status.kind == .regularFile else {
            _ = visit(item, item.location, status, in: context)
            return contents.add(status, named: item.name)
        }
        let held = try HeldFile(FilePath(bytes: item.name), in: item.directory, status, patience)
        _ = visit(item, held.descriptor, held.status, in: context)
        contents.add(held.status, named: item.name)
    }

    mutating func enter(
        _ directory: FileDescriptor, _ item: WalkedItem, in context: PurgeContext
    ) throws(KeepReason) -> PurgeContext? {
        let status = try reaching { () throws(Errno) in try directory.status() }
        guard case .descend(let below) = visit(item, directory, status, in: context) else {
            // The visitor recorded the reason.
            return nil
        }
        try requireUnlocked(directory, patience)
        contents.add(status, named: item.name)
        return below
    }

    mutating func leave(_ item: WalkedItem, _ identity: FileIdentity) {}

    private mutating func visit(
        _ item: WalkedItem, _ location: some FileLocation, _ status: FileStatus,
        in context: PurgeContext
    ) -> Descent<PurgeContext> {
        var descent = Descent<PurgeContext>.skip
        do throws(Errno) {
            try location.lookUp { target throws(Errno) in
                descent = TreeEntry.make(
                    at: target, named: item.name, in: item.directoryPath, kind: status.kind,
                    inode: status.identity.inode, depth: 1
                ) { entry in rules.visit(entry, in: context) }
            }
        } catch {
            // Not reached: neither a descriptor nor a name in a directory needs a lookup.
            return .skip
        }
        return descent
    }
}
