import ResourceValuesDropIn

/// `write-forever FILE`: stores a million zeros and a million ones in turn, each time as a new file with
/// a class, until it is killed.
func runWriteForever(_ arguments: [String]) throws {
    let url = URL(fileURLWithPath: arguments[0])
    while true {
        for byte in [UInt8(ascii: "0"), UInt8(ascii: "1")] {
            try Data(repeating: byte, count: 1_000_000)
                .write(to: url, options: .completeFileProtection)
        }
    }
}
