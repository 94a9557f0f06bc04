import ArgumentParser

// What a command takes that does nothing: released programs are compared with its size.
struct Empty: ParsableCommand {}

Empty.main()
