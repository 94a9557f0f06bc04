import ArgumentParser

/// Whether items with a protection class may be stored where others can read them.
struct PlaintextOptions: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "Also store items with a protection class where the repository is not encrypted "
                + "(tar:DIR). Without it they are excluded and named."))
    var allowPlaintext = false
}
