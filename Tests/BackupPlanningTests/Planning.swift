import BackupPlanning
import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// A plan by marks alone, with this machine's mounts.
func makePlan(
    _ sources: FilePath..., policy: StoragePolicy = StoragePolicy(),
    _ configure: (inout BackupPlanner) -> Void = { _ in }
) throws -> BackupPlan {
    var planner = BackupPlanner(policy: policy, mounts: try MountTable.current())
    configure(&planner)
    return try planner.makePlan(for: sources)
}

extension BackupPlan {
    /// What is left out, by the path below a directory, with the name of the reason.
    func reasons(below root: FilePath) -> [String] {
        exclusions.map { "\(relative($0.path, to: root)): \($0.reason.name)" }
    }

    /// What is reported, by the path below a directory.
    func notices(below root: FilePath) -> [String] {
        notices.map { notice in
            switch notice.matter {
            case .issue(let issue): "\(relative(notice.path, to: root)): \(issue.name)"
            case .unreadable(let error): "\(relative(notice.path, to: root)): \(error.code)"
            case .refused(let error):
                "\(relative(notice.path, to: root)): refused: \(error.reason.name)"
            case .missing: "\(relative(notice.path, to: root)): missing"
            case .eviction(let sign, _): "\(relative(notice.path, to: root)): \(sign)"
            case .attributeName: "\(relative(notice.path, to: root)): attribute-name"
            }
        }
    }
}

private func relative(_ path: FilePath, to root: FilePath) -> String {
    var rest = path
    return rest.removePrefix(root) ? rest.string : path.string
}
