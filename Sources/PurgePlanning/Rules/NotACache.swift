import SystemPackage

/// Places and files that look disposable and are not.
///
/// The list is data: one line for each, `pattern<TAB>reason`. A pattern without a slash is the name
/// of an item that keeps the unit it is in; one with slashes is a path below a directory for caches,
/// where `*` stands for any one name.
struct NotACache: Sendable {
    private let names: [[UInt8]: String]
    private let places: [Place]

    private struct Place: Sendable {
        let pattern: [[UInt8]]
        let reason: String
    }

    /// Reads a list; a line of another form is left out.
    init(list: String) {
        var names: [[UInt8]: String] = [:]
        var places: [Place] = []
        for line in list.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: "\t", maxSplits: 1)
            guard parts.count == 2 else { continue }
            let pattern = parts[0].split(separator: "/").map { Array($0.utf8) }
            if parts[0].contains("/") {
                places.append(Place(pattern: pattern, reason: String(parts[1])))
            } else if let name = pattern.first {
                names[name] = String(parts[1])
            }
        }
        self.names = names
        self.places = places
    }

    /// Why an item of a name keeps the unit it is in; nil when it does not.
    func reason(name: [UInt8]) -> String? { names[name] }

    /// Why a place below a directory for caches is kept; nil when it is not.
    ///
    /// - Parameter path: the names from that directory on down.
    func reason(place path: [[UInt8]]) -> String? {
        places.first { place in
            place.pattern.count == path.count
                && zip(place.pattern, path).allSatisfy { $0 == anyName || $0 == $1 }
        }?.reason
    }
}

private let anyName = Array("*".utf8)
