import SystemCalls
import SystemPackage

/// A tree of files that a test declares and then makes on disk.
///
///     let tree = Tree {
///         File("notes", "text").excluded()
///         File("src/main.c")
///         Directory("build") {
///             File("object")
///             HardLink("same", to: "notes")
///         }.excluded()
///     }
package struct Tree: Sendable {
    let items: [any TreeItem]

    package init(@TreeBuilder _ items: () -> [any TreeItem]) { self.items = items() }

    /// Makes all items in a directory that exists.
    package func create(in directory: FilePath) throws {
        guard !items.isEmpty else { return }
        let root = try DirectoryHandle(at: directory)
        for item in items {
            try item.create(in: root, root: root.descriptor)
        }
    }
}

/// Collects the items of a tree; loops and conditions work as in ordinary code.
@resultBuilder
package enum TreeBuilder {
    package static func buildExpression(_ item: any TreeItem) -> [any TreeItem] { [item] }

    package static func buildExpression(_ tree: Tree) -> [any TreeItem] { tree.items }

    package static func buildBlock(_ items: [any TreeItem]...) -> [any TreeItem] {
        items.flatMap(\.self)
    }

    package static func buildArray(_ items: [[any TreeItem]]) -> [any TreeItem] {
        items.flatMap(\.self)
    }

    package static func buildOptional(_ items: [any TreeItem]?) -> [any TreeItem] { items ?? [] }

    package static func buildEither(first items: [any TreeItem]) -> [any TreeItem] { items }

    package static func buildEither(second items: [any TreeItem]) -> [any TreeItem] { items }
}
