import BackupPlanning
import SystemCalls
import SystemPackage

extension CoverageComparison {
    /// Returns the items that stored a protection class in the earlier snapshot, still exist, and
    /// have none now.
    func unprotected(in plan: BackupPlan) -> [RecordedProtection] {
        let today = Set(plan.protectedItems.map(\.path.bytes))
        return protectedBefore.filter { item in
            let isProtected =
                today.contains(item.path)
                || ancestors(of: item.path).contains { today.contains(Array($0)) }
            return !isProtected && isThere(item.path)
        }
    }

    private func isThere(_ path: [UInt8]) -> Bool {
        do throws(Errno) {
            _ = try FilePath(bytes: path).withoutFollowing.status()
            return true
        } catch {
            // Missing or inaccessible: the plan reports that.
            return false
        }
    }
}

extension RecordedProtection {
    /// That the item has lost its class, in words without the path.
    package var lossSentence: String {
        "had the protection class \(protectionClass) at the snapshot before, and has none now "
            + "(if a program lost it: resval set protection=\(protectionClass))"
    }
}
