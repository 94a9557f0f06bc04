import ResourceValuesFoundation
import Testing

@Suite("Marks through URLs")
struct MarkTests {
    @Test("a missing file throws the code Apple gives")
    func missingFile() throws {
        let url = URL(fileURLWithPath: "/nonexistent/file")
        #expect(throws: CocoaError(.fileReadNoSuchFile)) {
            _ = try url.resourceValues(forKeys: [.isExcludedFromBackupKey])
        }
    }
}
