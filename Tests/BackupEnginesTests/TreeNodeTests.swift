import SystemCalls
import Testing

@testable import BackupEngines

@Suite("Reading a stored directory")
struct TreeNodeTests {
    @Test("names lose Go's quotes, and attributes are decoded")
    func nodes() throws {
        let json = #"""
            {"nodes":[{"name":"n\\nl\\xff\\x1b\\\\\\\"\\u00a0","type":"file","content":null,
            "extended_attributes":[{"name":"user.a","value":"AP8="},{"name":"user.e","value":null}]},
            {"name":"dir","type":"dir","subtree":"\#(String(repeating: "a", count: 64))"}]}
            """#
        let nodes = try TreeNode.reading(Array(json.utf8))
        #expect(nodes.count == 2)
        #expect(
            nodes[0].name
                == [0x6E, 0x0A, 0x6C, 0xFF, 0x1B, 0x5C, 0x22] + Array("\u{A0}".utf8))
        #expect(nodes[0].attributes == ["user.a": [0, 0xFF], "user.e": []])
        #expect(nodes[1].subtree == String(repeating: "a", count: 64))
        #expect(throws: JSONError.self) {
            try TreeNode.reading(
                Array(#"{"nodes":[{"name":"d","subtree":"--password-command"}]}"#.utf8))
        }
    }
}
