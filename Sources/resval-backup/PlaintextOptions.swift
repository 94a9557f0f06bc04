import ArgumentParser

/// Whether items with a protection class may be stored where others can read them.
struct PlaintextOptions: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "Store items with a protection class in plaintext, too, where the repository keeps "
                + "no secrets (tar:DIR). Without it they are left out and named."))
    var allowPlaintext = false
}
