import CommandSupport
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// What became of the hostile tree when a real tool backed it up by our list.
struct ListOutcome {
    /// What a tool did with a name.
    enum Answer: String {
        case stored
        case excluded = "excluded"
        case refused
        case wrong
    }

    /// Whether each name, in order, was stored, or refused before anything was written.
    private(set) var storing: [Answer] = []
    /// Whether each name, in order, was left out, or refused.
    private(set) var leavingOut: [Answer] = []
    /// What was neither as planned nor refused, for people.
    private(set) var surprises: [String] = []

    init(_ tool: ListTool) throws {
        self = try withList(for: tool, of: HostileTree.tree) { try ListOutcome($0) }
    }

    private init(_ fixture: ListFixture) throws {
        let markers = ["--markers", "native,cachedir"]
        let planned = try fixture.storedPaths(markers)
        let plan = try fixture.plan("--no-strict", "--markers", "native,cachedir")
        let command = Array(plan.output.dropLast())
        let (result, stored) = try fixture.restoredPaths(by: command)
        func isNamed(_ path: [UInt8], _ sentence: String) -> Bool {
            plan.errorText.contains("\(NameEscaping.text(path)): \(sentence)")
        }
        let expectedCode: Int32 = plan.errorText.contains("cannot be stored") ? 3 : 0
        if plan.exitCode != expectedCode { surprises.append("plan: \(plan)") }
        if result.exitCode != 0 { surprises.append("\(fixture.tool.name): \(result)") }
        for path in planned.subtracting(stored) where !isNamed(path, "cannot be stored") {
            surprises.append("missing: \(quotedForMessages(path))")
        }
        let lost = planned.union(stored).filter { isNamed($0, "warning: cannot be excluded") }
        for path in stored.subtracting(planned) {
            let isLost = lost.contains { path == $0 || path.starts(with: $0 + [0x2F]) }
            if !isLost { surprises.append("not planned: \(quotedForMessages(path))") }
        }
        for name in HostileNames.all {
            let file = fixture.source.appending("stored").appending(name).bytes
            let inside = fixture.source.appending("stored directories").appending(name)
                .appending("inside").bytes
            storing.append(
                stored.contains(file) && stored.contains(inside)
                    ? .stored : isNamed(file, "cannot be stored") ? .refused : .wrong)
            let excluded = fixture.source.appending("left out").appending(name).bytes
            let deep = fixture.source.appending("left out directories").appending(name)
                .appending("inside").bytes
            leavingOut.append(
                !stored.contains(excluded) && !stored.contains(deep)
                    ? .excluded : lost.contains(excluded) ? .refused : .wrong)
        }
        if fixture.tool.keepsMarks {
            let mark = try fixture.restored("stored/-rf").value(for: .isPurgeable)
            if mark != true { surprises.append("the mark of stored/-rf is \(mark as Any)") }
        }
    }

    /// The outcome of a tool, found out once.
    static func of(_ tool: ListTool) throws -> ListOutcome {
        if let known = outcomes.withLock({ $0[tool.name] }) { return known }
        let outcome = try ListOutcome(tool)
        outcomes.withLock { $0[tool.name] = outcome }
        return outcome
    }

    private static let outcomes: Monitor<[String: ListOutcome]> = Monitor([:])
}
