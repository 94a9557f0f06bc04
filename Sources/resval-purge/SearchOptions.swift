import ArgumentParser
import CommandSupport

/// The options that decide where units are searched and which may be deleted.
struct SearchOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "An item on the filesystem that is short of space. (default: the first ROOT, else the "
                + "home)",
            valueName: "path"))
    var volume: PathArgument?

    @Option(
        help: ArgumentHelp(
            "Keep what is younger than this age, such as 90m, 24h or 10d. (default: 24h; 6h for "
                + "temporary files when space is critical)",
            valueName: "age"))
    var minAge: AgeArgument?

    @Flag(help: "Include items of other users.")
    var allOwners = false

    @Option(
        name: .customLong("cache"), parsing: .singleValue,
        help: ArgumentHelp(
            "A directory for caches besides the user's own, such as /var/cache; can be repeated.",
            valueName: "path"))
    var caches: [PathArgument] = []

    @Option(
        name: .customLong("protect"), parsing: .singleValue,
        help: ArgumentHelp(
            "A protected directory, never touched; can be repeated.", valueName: "path"))
    var protected: [PathArgument] = []
}
