/// An item that a restore did not bring back as it is in the snapshot.
package struct RestoreFailure: Sendable, Hashable {
    /// What happened to it.
    package enum Cause: Sendable, Hashable {
        /// It is not there; restic's words where it said why.
        case missing(String?)
        /// It is there, with another kind, size or time of modification.
        case different(String?)
        /// Its extended attributes are not all there.
        case attributes(String)
        /// Its holes could not be dug again: it takes more space than it did.
        case holes(String)
    }

    /// The absolute path in the snapshot.
    package let path: [UInt8]
    /// What happened to it.
    package let cause: Cause

    /// What happened, in words.
    package var sentence: String {
        switch cause {
        case .missing(let reason): "was not restored" + (reason.map { ": \($0)" } ?? "")
        case .different(let reason):
            "was not restored as it is in the snapshot" + (reason.map { ": \($0)" } ?? "")
        case .attributes(let reason): "lacks some of its extended attributes: \(reason)"
        case .holes(let reason): "takes more space than it did: \(reason)"
        }
    }

    /// A short name for the cause.
    package var name: String {
        switch cause {
        case .missing: "missing"
        case .different: "different"
        case .attributes: "attributes"
        case .holes: "holes"
        }
    }
}
