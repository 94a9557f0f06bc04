import ResourceValuesDropIn
import TestSupport
import Testing

@Suite("Empty paths", .cleansUp)
struct EmptyPathTests {
    @Test("lead to no item, with the codes of Foundation, and nothing is touched")
    func refused() throws {
        let root = try temporaryDirectory { File("f", "x") }
        let (file, new) = ("\(root)/f", "\(root)/new")
        expectError(.fileReadNoSuchFile) { try manager.copyItem(atPath: "", toPath: new) }
        expectError(.fileReadNoSuchFile) { _ = try manager.attributesOfItem(atPath: "") }
        expectError(.fileNoSuchFile) { try manager.copyItem(atPath: file, toPath: "") }
        // Foundation moves the working directory, and says that an item exists at no path.
        expectError(.fileNoSuchFile) { try manager.moveItem(atPath: "", toPath: new) }
        expectError(.fileNoSuchFile) { try manager.moveItem(atPath: file, toPath: "") }
        for attributes in [nil, complete] {
            for isCreatingAll in [false, true] {
                expectError(.fileNoSuchFile) {
                    try createDirectory("", isCreatingAll, attributes)
                }
            }
            #expect(!manager.createFile(atPath: "", contents: nil, attributes: attributes))
        }
        expectError(.fileNoSuchFile) { try setAttributes(complete, of: "") }
        expectError(.fileNoSuchFile) { try setAttributes([.posixPermissions: 0o600], of: "") }
        for isAtomic in [false, true] {
            expectError(.fileNoSuchFile) {
                try "x".write(toFile: "", atomically: isAtomic, encoding: .utf8)
            }
        }
        try #expect(entryCount(root) == 1)
    }
}
