import SystemPackage
import TestSupport
import Testing

/// A tree, and the page of `resval usage --html` about it.
struct PageFixture {
    /// The root that was measured, which is the home, too.
    let root: FilePath
    let page: FilePath

    /// Does in a browser what a scenario of `Tests/Helpers/drive-page` says.
    ///
    /// The browser's window is kept as `.build/screenshots/SCENARIO.png`.
    ///
    /// - Returns: what was seen, with `ROOT` for the root's path.
    func browse(_ scenario: String) throws -> String {
        let screenshot = packageRoot.appending(".build/screenshots/\(scenario).png")
        let seen = try tool(
            "python3", packageRoot.appending("Tests/Helpers/drive-page/drive-page.py"),
            try #require(FilePath.tool("chromium-headless-shell")), page, scenario, screenshot)
        return seen.replacing(root.string, with: "ROOT")
    }
}

/// Makes the page of a tree. Skips the test where there is no browser.
func page(of tree: Tree) throws -> PageFixture {
    let directory = try temporaryDirectory { Directory("home") { tree } }
    return try page(of: directory.appending("home"), in: directory)
}

/// Makes the page of a directory, in another.
func page(of root: FilePath, in directory: FilePath) throws -> PageFixture {
    try require(.tool("chromium-headless-shell"), .tool("python3"))
    let page = directory.appending("page.html")
    try resval(
        "usage", "--html", page, root, in: directory,
        environment: ["HOME": root.string]
    ).expect(exits: 0)
    return PageFixture(root: root, page: page)
}
