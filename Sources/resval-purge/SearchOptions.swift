import ArgumentParser
import CommandSupport
import PurgePlanning
import StorageManagement

struct SearchOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "An item on the volume. (default: first ROOT, or home)", valueName: "path"))
    var volume: PathArgument?

    @Option(
        help: ArgumentHelp(
            "Keep what is younger, such as 90m or 10d. (default: 24h; 6h for temporary files when "
                + "space is critical)", valueName: "age"), transform: ageWithUnit)
    var minAge: AgeArgument?

    @Option(
        help: ArgumentHelp(
            "Keep smaller caches and temporary files unless they add up to 1 MiB in a directory. "
                + "(default: 64 KiB)", valueName: "size"), transform: sizeWithUnit)
    var smallest: ByteSize?

    @Flag(help: "In a container: nothing outside uses what is searched.")
    var alone = false
}

/// The options that change what a search takes, and what it never touches.
struct ScopeOptions: ParsableArguments {
    @Flag(help: "Include items of other users.")
    var allOwners = false

    @Option(
        name: .customLong("cache"), parsing: .singleValue,
        help: ArgumentHelp("Another directory for caches; can be repeated.", valueName: "path"))
    var caches: [PathArgument] = []

    @Option(
        name: .customLong("protect"), parsing: .singleValue,
        help: ArgumentHelp("A directory never touched; can be repeated.", valueName: "path"))
    var protected: [PathArgument] = []

    func validate() throws {
        // It would be the working directory.
        guard !(caches + protected).contains(where: \.bytes.isEmpty) else {
            throw ValidationError("give --cache and --protect a path")
        }
    }
}

struct TargetOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("How much to free, such as 500M or 10G.", valueName: "size"),
        transform: sizeWithUnit)
    var free: ByteSize?

    @Option(
        help: ArgumentHelp("How much should be available, such as 20G or 15%.", valueName: "size"),
        transform: AvailableArgument.init)
    var untilAvailable: AvailableArgument?

    var isGiven: Bool { free != nil || untilAvailable != nil }

    func validate() throws {
        if free != nil, untilAvailable != nil {
            throw ValidationError("give --free or --until-available, not both")
        }
        if free?.bytes == 0 { throw ValidationError("--free needs a size greater than 0") }
    }

    /// Returns how much to free on a volume.
    ///
    /// - Parameters:
    ///   - bytes: the volume's bytes.
    ///   - inodes: its inodes, if these are short, and those of quotas.
    func wanted(of bytes: StorageAmount, _ inodes: [StorageAmount]) -> PurgeAmount {
        switch untilAvailable {
        case nil: PurgeAmount(bytes: free?.bytes ?? 0)
        case .size(let size): PurgeAmount(bytes: max(0, size.bytes - bytes.available))
        case .percent(let percent):
            PurgeAmount(
                bytes: bytes.missing(toPercent: percent),
                inodes: inodes.map { $0.missing(toPercent: percent) }.max() ?? 0)
        }
    }
}

/// Parses a size. It needs a unit unless it is 0: 10 hardly means bytes.
private func sizeWithUnit(_ text: String) throws -> ByteSize {
    guard let size = ByteSize(argument: text) else {
        throw ValidationError("give a size with its unit, such as 500M or 10G")
    }
    guard size.bytes == 0 || text.contains(where: \.isLetter) else {
        throw ValidationError("give a unit, such as \(text)M or \(text)G")
    }
    return size
}

/// Parses an age. It needs a unit unless it is 0: 30 may mean seconds or days.
private func ageWithUnit(_ text: String) throws -> AgeArgument {
    if let age = AgeArgument(argument: text) { return age }
    let isNumber = text.allSatisfy { $0.isASCII && $0.isNumber }
    throw ValidationError(
        isNumber
            ? "give a unit, such as \(text)h or \(text)d"
            : "give an age with its unit, such as 90m or 10d")
}

enum AvailableArgument: Sendable, Hashable {
    case size(ByteSize)
    /// A percentage from 0 to 100.
    case percent(Int64)

    init(_ text: String) throws {
        guard text.hasSuffix("%") else {
            self = .size(try sizeWithUnit(text))
            return
        }
        guard let percent = Int64(text.dropLast()), (0...100).contains(percent) else {
            throw ValidationError("give a percentage from 0% to 100%")
        }
        self = .percent(percent)
    }
}

extension StorageAmount {
    /// Returns how much more has to be available to be a percentage of the total.
    fileprivate func missing(toPercent percent: Int64) -> Int64 {
        max(0, total / 100 * percent + total % 100 * percent / 100 - available)
    }
}
