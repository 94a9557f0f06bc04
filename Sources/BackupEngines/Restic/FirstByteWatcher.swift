/// Records whether there was any output. The caller finishes the consumer.
struct FirstByteWatcher<Consumer: OutputConsumer>: OutputConsumer {
    private(set) var consumer: Consumer
    private(set) var hasBegun = false

    init(_ consumer: Consumer) { self.consumer = consumer }

    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(BackupError) {
        hasBegun = hasBegun || !bytes.isEmpty
        try consumer.receive(bytes)
    }

    func finish() {}
}
