import ArgumentParser
import CommandSupport
import StorageManagement

/// The options for how much space to free.
struct TargetOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("How much to free, such as 500M or 10G.", valueName: "size"))
    var free: ByteSize?

    @Option(
        help: ArgumentHelp(
            "How much should be available, such as 20G, or 15% of the filesystem.",
            valueName: "size"))
    var untilAvailable: AvailableArgument?

    /// Whether one of the options was given.
    var isGiven: Bool { free != nil || untilAvailable != nil }

    func validate() throws {
        if free != nil, untilAvailable != nil {
            throw ValidationError("give --free or --until-available, not both")
        }
    }

    /// Returns how many bytes to free on a volume.
    func wantedBytes(of space: StorageAmount) -> Int64 {
        if let free { return free.bytes }
        return max(0, (untilAvailable?.bytes(of: space.total) ?? 0) - space.available)
    }
}

/// A size, or a percentage of a total.
enum AvailableArgument: ExpressibleByArgument, Sendable, Hashable {
    case size(ByteSize)
    /// A percentage from 0 to 100.
    case percent(Int64)

    init?(argument: String) {
        if argument.hasSuffix("%") {
            guard let percent = Int64(argument.dropLast()), (0...100).contains(percent)
            else { return nil }
            self = .percent(percent)
        } else {
            guard let size = ByteSize(argument: argument) else { return nil }
            self = .size(size)
        }
    }

    func bytes(of total: Int64) -> Int64 {
        switch self {
        case .size(let size): size.bytes
        case .percent(let percent): total / 100 * percent + total % 100 * percent / 100
        }
    }
}
