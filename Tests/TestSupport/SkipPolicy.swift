import Glibc
import SystemPackage
import Testing

/// Something a test needs from the machine it runs on.
package enum Requirement: Sendable, Hashable {
    /// Root's privileges: to mount, to change owners, to run as another user.
    case root
    /// An installed program.
    case tool(String)
    /// A filesystem the kernel can mount.
    case filesystem(FilesystemKind)

    /// What is missing, and how to get it; nil when the requirement is met.
    var shortfall: String? {
        switch self {
        case .root: geteuid() == 0 ? nil : "needs root"
        case .tool(let name):
            FilePath.tool(name) == nil
                ? "needs \(name): scripts/install-dependencies --for-tests" : nil
        case .filesystem(let kind): kind.shortfall
        }
    }
}

/// Goes on only where all requirements are met.
///
/// Otherwise the running test is skipped, and says why; with `CI=true` it fails instead, since
/// nobody reads the skips there.
package func require(
    _ requirements: Requirement..., sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let shortfalls = requirements.compactMap(\.shortfall)
    guard !shortfalls.isEmpty else { return }
    let reason = shortfalls.joined(separator: "; ")
    guard !isContinuousIntegration else { throw MissingRequirement(description: reason) }
    // The line that stands for this test among those of the tests that ran.
    try Test.cancel("skipped: \(reason)", sourceLocation: sourceLocation)
}

private var isContinuousIntegration: Bool {
    getenv("CI").map { String(cString: $0) == "true" } ?? false
}

/// A requirement that is not met where every test must run.
struct MissingRequirement: Error, CustomStringConvertible { let description: String }
