import Glibc
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("What looks like a cache and is none", .cleansUp)
struct NotACacheTests {
    private typealias Entry = NotACache.Entry

    private func text(_ entries: [Entry]) -> [UInt8] {
        entries.flatMap {
            Array("\($0.kind.rawValue)\t".utf8) + $0.pattern + Array("\t\($0.reason)\n".utf8)
        }
    }

    /// A name or a path that a pattern matches, and hardly any other does.
    private func sample(of entry: Entry) -> String {
        var sample = ""
        var rest = String(decoding: entry.pattern, as: UTF8.self)[...]
        while let next = rest.popFirst() {
            switch next {
            case "*", "?": sample.append("x")
            case "[":
                sample.append(rest.first ?? "x")
                rest = rest.drop { $0 != "]" }.dropFirst()
            default: sample.append(next)
            }
        }
        return sample
    }

    /// The reason by which a list keeps the sample of an entry.
    private func reason(_ list: NotACache, _ entry: Entry) -> String? {
        let sample = sample(of: entry)
        let names = sample.split(separator: "/").map { Array($0.utf8) }
        let position = names.dropLast().reduce(NotACache.Position.top) { position, name in
            name.withUnsafeBytes { list.position(in: position, $0) }
        }
        return (names.last ?? []).withUnsafeBytes { last in
            switch entry.kind {
            case .name: list.reason(name: last)
            case .reserved: list.reason(reserved: last)
            case .packages: list.isOfPackages(last) ? entry.reason : nil
            case .cache: list.reason(in: position, last)
            case .split: list.isSplit(in: position, last) ? entry.reason : nil
            case .fetched: list.isFetched(in: position, last) ? entry.reason : nil
            case .tree:
                list.reason(treeWith: { name in
                    sample.split(separator: " ").contains { Array($0.utf8) == name }
                })
            }
        }
    }

    @Test("is a list without a wrong line, and without one that another makes superfluous")
    func lines() {
        let shipped = NotACache.shipped
        #expect(shipped.malformedLineCount == 0 && shipped.entries.count > 200)
        for entry in shipped.entries {
            let others = NotACache(list: text(shipped.entries.filter { $0 != entry }))
            #expect(others.entries.count == shipped.entries.count - 1, "\(entry) stands twice")
            #expect(reason(shipped, entry) == entry.reason, "\(sample(of: entry))")
            #expect(reason(others, entry) == nil, "\(sample(of: entry)) needs no line of its own")
        }
        let wrong = [
            "no reason", "name\tx", "name\tx\t", "name\t\tx", "cache\tx\t", "other\tx\ty",
            "name\tx/y\tz", "tree\tx*\ty", "reserved\tx/y\tz", "packages\tx*\ty",
        ]
        #expect(
            NotACache(list: Array(wrong.joined(separator: "\n").utf8)).malformedLineCount
                == wrong.count)
    }

    @Test("stays, each for the reason of its line: names and trees, wherever they are in a unit")
    func namesAndTrees() throws {
        let entries = NotACache.shipped.entries.filter { $0.kind == .name || $0.kind == .tree }
        let home = try homeFixture { Directory(".cache") { Directory("app") } }
        for (index, entry) in entries.enumerated() {
            let names =
                entry.kind == .tree
                ? sample(of: entry).split(separator: " ").map { String($0) }
                : [sample(of: entry)]
            let unit = home(".cache/app/\(index)/deep")
            try tool("mkdir", "-p", unit)
            for name in names { try tool("cp", "/etc/passwd", unit.appending(name)) }
        }
        let found = try home.found()
        #expect(found.units == [])
        for (index, entry) in entries.enumerated() {
            #expect(
                found.kept[".cache/app/\(index)"] == .notACache(entry.reason),
                "\(sample(of: entry))")
        }
    }

    @Test("is a whole directory in caches whose own entries tell what it is")
    func trees() throws {
        let entries = NotACache.shipped.entries.filter { $0.kind == .tree }
        let home = try homeFixture { Directory(".cache") }
        for (index, entry) in entries.enumerated() {
            let directory = home(".cache/\(index)")
            try tool("mkdir", "-p", directory.appending("other"))
            try tool("cp", "/etc/passwd", directory.appending("other/file"))
            try tool("cp", "/etc/passwd", directory.appending("file"))
            for name in sample(of: entry).split(separator: " ") {
                try tool("cp", "/etc/passwd", directory.appending(String(name)))
            }
        }
        let found = try home.found()
        #expect(found.units == [])
        for (index, entry) in entries.enumerated() {
            #expect(found.kept[".cache/\(index)"] == .notACache(entry.reason))
            for root in [".cache/\(index)", ".cache/\(index)/other"] {
                let below = try home.found { $0.roots = [home(root)] }
                #expect(below.units == [], "\(sample(of: entry))")
            }
        }
    }

    @Test("stays where its line says below a directory for caches")
    func listedPaths() throws {
        for entry in NotACache.shipped.entries where entry.kind == .cache {
            let home = try homeFixture { Directory(".cache") }
            let name = ".cache/\(sample(of: entry))"
            try tool("mkdir", "-p", home(name).removingLastComponent())
            try tool("cp", "/etc/passwd", home(name))
            let file = try home.found()
            #expect(file.units == [] && file.kept == [name: .notACache(entry.reason)])
            // The same with a directory.
            try tool("rm", home(name))
            try tool("mkdir", "-p", home(name).appending("unit"))
            try tool("cp", "/etc/passwd", home(name).appending("unit/file"))
            try #expect(home.found().units == [], "\(name)")
        }
    }

    @Test("stays among temporary files, by itself and in a unit")
    func reserved() throws {
        let entries = NotACache.shipped.entries.filter { $0.kind == .reserved }
        var home = try homeFixture { Directory("tmp").permissions(0o1777) }
        home.temporary = ["tmp"]
        for (index, entry) in entries.enumerated() {
            let name = sample(of: entry)
            for directory in ["tmp/\(name)", "tmp/unit\(index)/\(name)"] {
                try tool("mkdir", "-p", home(directory))
                try tool("cp", "/etc/passwd", home(directory).appending("file"))
            }
        }
        let found = try home.found()
        #expect(found.units == [])
        for (index, entry) in entries.enumerated() {
            for name in [sample(of: entry), "unit\(index)"] {
                #expect(found.kept["tmp/\(name)"] == .reservedName(entry.reason), "\(name)")
            }
        }
    }

    @Test(
        "is what programs are known to keep there",
        arguments: [
            ".cache/onedriver/home-u-OneDrive/onedriver.db",
            ".cache/onedriver/home-u-OneDrive/content/ABC",
            ".cache/huggingface/token", ".cache/huggingface/stored_tokens",
            ".cache/huggingface/accelerate/default_config.yaml",
            ".cache/huggingface/lerobot/calibration/arm.json", ".cache/deno/location_data/abc/kv",
            ".cache/xournalpp/autosaves/1234.xopp", ".cache/RawTherapee/profiles/a.pp3",
            ".cache/RawTherapee5-dev/profiles/a.pp3", ".cache/kioexec/krun/123_0/letter.odt",
            ".cache/keepassxc/keepassxc.ini", ".cache/ncspot/librespot/credentials.json",
            ".cache/spotifyd/oauth/credentials.json", ".cache/spotify-player/credentials.json",
            ".cache/obexd/photo.jpg", ".cache/wallpaper/0_5_1080_1920_a",
            ".cache/gnome-control-center/backgrounds/a.jpg", ".cache/R/renv/cache/v5/pkg/file",
            ".cache/duplicity/name/manifest.gpg", ".cache/FreeCAD/v1-0/Cache/doc/a.fcstd",
            ".cache/gdfuse/default/cache/file", ".cache/inkscape/inkscape-autosave-1-2.svg",
            ".cache/shell/.histfile", ".cache/app/Search-History.db", ".cache/work/CVS/Entries",
            ".cache/app/work/.sl/store", ".cache/app/work/.pijul/pristine",
            ".cache/app/vault/Passwords.kdbx", ".cache/app/infra/terraform.tfstate",
            ".cache/lm-studio/conversations/1.json", ".cache/go-build/fuzz/pkg/FuzzX/abc",
            ".cache/calendar.vim/local/2026/event", ".cache/cliphist/db",
            ".cache/clipboard-indicator@tudmotu.com/registry.txt", ".cache/xfce4/clipman/textsrc",
            ".cache/SpaceVim/undofile/%a", ".cache/emacs/var/savehist.el", ".cache/vim/session/a",
            ".cache/zsh/histfile", ".cache/salt/master/.root_key", ".cache/kopia/x/contents",
            ".cache/netdata/dbengine/datafile", ".cache/app/profile/key4.db",
            ".cache/app/.git-credentials", ".cache/containers/storage/file",
            ".cache/keyring-AB/control", "tmp/xauth_Abc",
            "tmp/ksocket-u/kdeinit", "tmp/kde-u/file", "tmp/kdecache-u/file", "tmp/notes.txt.swp",
            "tmp/#draft#", "tmp/vi.recover/vi.1", "tmp/audacity-u/New.aup3unsaved",
            "tmp/New.aup3unsaved", "tmp/quit.blend",
        ])
    func known(_ path: String) throws {
        var home = try homeFixture { Directory("tmp").permissions(0o1777) }
        home.temporary = ["tmp"]
        try tool("mkdir", "-p", home(path).removingLastComponent())
        try tool("cp", "/etc/passwd", home(path))
        let found = try home.found()
        #expect(found.units == [])
        #expect(
            found.kept.values.contains {
                $0.name == "not-a-cache" || $0.name == "reserved-name"
            })
    }

    @Test("is kept also where it is itself a directory of a program, and below it")
    func atTheTop() throws {
        let home = try homeFixture {
            Directory(".cache/.hg") { Directory("store") { File("file", block) } }
            Directory(".cache/.git") { Directory("objects") { File("file", block) } }
            Directory(".cache/.password-store") { Directory("mail") { File("file", block) } }
            Directory(".cache/fine") { Directory("unit") { File("file", block) } }
        }
        let found = try home.found()
        #expect(found.units == [".cache/fine/unit"])
        #expect(Set(found.kept.keys) == [".cache/.hg", ".cache/.git", ".cache/.password-store"])
        for root in [".cache/.hg", ".cache/.git/objects", ".cache/.password-store/mail"] {
            let below = try home.found { $0.roots = [home(root)] }
            #expect(below.units == [] && below.kept[root]?.name == "not-a-cache", "\(root)")
        }
    }

    @Test("is found also in a directory that is too large to be read twice")
    func large() throws {
        let tree = Tree {
            for name in ["fine", "kept"] {
                Directory(".cache/\(name)") {
                    File("index.json", block)
                    Directory("large") {
                        for index in 0..<600 { File("\(index)") }
                        if name == "kept" { File("pyvenv.cfg", block) }
                    }
                }
            }
        }
        let home = try homeFixture { tree }
        let found = try home.found()
        #expect(found.units.contains(".cache/fine/index.json"))
        #expect(found.kept[".cache/kept/index.json"]?.name == "not-a-cache")
    }

    @Test("is told by reading each directory once, whatever has its path meanwhile")
    func readOnce() throws {
        let tree = Tree {
            for name in ["program", ".git"] {
                Directory("\(name).app") {
                    File("\(name)", block)
                    Directory("clone") { File(".git/HEAD", block) }
                    for index in 0..<20 { Directory("unit\(index)") { File("file", block) } }
                }
                Directory("\(name).other")
            }
        }
        let home = try homeFixture { tree }
        for name in ["program", ".git"] {
            let (app, other) = (home("\(name).app"), home("\(name).other"))
            let mock = SystemCallMock([:])
            mock.beforeCall = { [unowned mock] call in
                guard call == .getdents64, mock.calls[call] == 1 else { return }
                rename(app.string, home("\(name).moved").string)
                rename(other.string, app.string)
            }
            let layout = mock.run { CacheLayout(of: app.withoutFollowing, .shipped) }
            #expect(layout.keepsSmallFiles && !layout.isIndexed)
            let repository = KeepReason.notACache("a repository of Git")
            #expect(layout.reasonToKeep == (name == ".git" ? repository : nil))
            // One of the directory and of each in it, and of each `.git`.
            #expect(mock.calls[.statx, default: 0] <= 24)
        }
    }

    @Test(
        "is no marker that is empty, and no name in what was fetched or in a directory of packages")
    func fetched() throws {
        let home = try homeFixture {
            Directory(".cache") {
                File("uv/.git")
                Directory("uv/archive-v0") { File("pyvenv.cfg", block) }
                File("tool/.git")
                Directory("tool/unit") { File("file", block) }
                Directory("yarn") { Directory("v6") { File("History.md", block) } }
                Directory("Cypress") { Directory("13.6") { File("History.md", block) } }
                Directory("bazel") { Directory("_bazel_u") { File(".env", block) } }
            }
            Directory("marked") {
                Directory("node_modules") { File("History.md", block) }
            }.purgeable()
            Directory("own") { Directory("node") { File("History.md", block) } }.purgeable()
        }
        let found = try home.found()
        #expect(
            Set(found.units) == [
                ".cache/uv/archive-v0", ".cache/tool/unit", ".cache/yarn/v6",
                ".cache/Cypress/13.6", ".cache/bazel/_bazel_u", "marked",
            ], "\(found.units) \(found.kept)")
        #expect(found.kept["own"]?.name == "not-a-cache")
    }

    @Test("is a clone that was fetched only where a file was edited since its checkout")
    func clones() throws {
        try require(.tool("git"))
        let home = try homeFixture {
            File("origin/PKGBUILD", block)
            Directory("origin/deep") { File("file", block) }
            Directory(".cache") { Directory("yay") }
        }
        try tool(
            "sh", "-ec",
            """
            cd $0
            git -c init.defaultBranch=main init -q origin
            cd origin && git add . && git -c user.name=u -c user.email=u@u commit -qm x && cd ..
            ln -s deep origin/link
            git -C origin add link && git -C origin -c user.name=u -c user.email=u@u commit -qm link
            git -C origin branch other
            for name in whole moved edited replaced broken built committed stashed packed staged \
                picked sub worktree expired relinked refused seen; do
                git clone -q origin .cache/yay/$name
            done
            cd .cache/yay
            echo more >> edited/deep/file
            cp replaced/PKGBUILD x && mv x replaced/PKGBUILD
            echo x > broken/.git/index
            for name in committed stashed; do echo more >> $name/PKGBUILD; done
            who="-c user.name=u -c user.email=u@u"
            (cd committed && git $who commit -qam y)
            (cd stashed && git $who stash -q)
            (cd moved && git checkout -q origin/other && git reset -q --hard && git status -s)
            echo more | tee -a packed/PKGBUILD >> staged/PKGBUILD
            (cd packed && git $who stash -q && git gc -q)
            (cd staged && git add PKGBUILD)
            (cd picked && git $who revert --no-edit HEAD > /dev/null)
            (cd relinked && rm link && echo mine > link)
            (cd expired && echo more >> PKGBUILD && git $who commit -qam y && : > .git/logs/HEAD)
            (cd sub && git -c protocol.file.allow=always submodule --quiet add $0/origin s)
            (cd worktree && git worktree add -q -b mine ../../own > /dev/null)
            cd refused && git config user.name u && git config user.email u@u
            printf '#!/bin/sh\nexit 1\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit
            echo more >> PKGBUILD && git add PKGBUILD && ! git commit -qm y
            sed -i "s/> [0-9]*/> $(($(date +%s) - 120))/" .git/logs/HEAD && cd ..
            touch -d "@$(($(date +%s) + 120))" seen/.git/index
            echo built > built/package.tar
            rm built/deep/file
            """, home.home)
        let found = try home.found()
        #expect(
            Set(found.units) == [
                ".cache/yay/whole", ".cache/yay/moved", ".cache/yay/built", ".cache/yay/seen",
            ])
        for name in [
            "edited", "replaced", "broken", "committed", "stashed", "packed", "staged", "picked",
            "sub", "worktree", "expired", "relinked", "refused",
        ] {
            #expect(found.kept[".cache/yay/\(name)"]?.name == "not-a-cache", "\(name)")
        }
    }

    @Test("is one entry of a directory that the list parts, and not the whole")
    func parted() throws {
        let tag = "Signature: 8a477f597d28d172789f06886806bc55\n"
        let home = try homeFixture {
            Directory(".cache") {
                File("huggingface/hub/CACHEDIR.TAG", tag)
                Directory("huggingface/hub/models--a") { File(".env", block) }
                Directory("huggingface/hub/models--b") { File("file", block) }
                Directory("JetBrains/IntelliJIdea2024.1/LocalHistory") { File("changes", block) }
                Directory("JetBrains/IntelliJIdea2024.1/index") { File("file", block) }
                Directory("thunderbird/abc.default/cache2") { File("file", block) }
                Directory("thunderbird/abc.default/ImapMail") { File("file", block) }
            }
        }
        let found = try home.found()
        let parts: Set = [
            ".cache/huggingface/hub/models--b", ".cache/JetBrains/IntelliJIdea2024.1/index",
            ".cache/thunderbird/abc.default/cache2",
        ]
        #expect(Set(found.units) == parts.union([".cache/huggingface/hub/CACHEDIR.TAG"]))
        #expect(
            Set(found.kept.keys) == [
                ".cache/huggingface/hub/models--a",
                ".cache/JetBrains/IntelliJIdea2024.1/LocalHistory",
                ".cache/thunderbird/abc.default/ImapMail",
            ])
        // Each is a unit also by itself, and nothing in it.
        for part in parts {
            let root = try home.found { $0.roots = [home(part)] }
            #expect(root.units == [part])
            let below = try home.found { $0.roots = [home("\(part)/file")] }
            #expect(below.units == [] && below.kept == ["\(part)/file": .partOfUnit])
        }
    }

    @Test("is not what only looks like it")
    func decoys() throws {
        var home = try homeFixture {
            File(".cache/app/bare/HEAD", block)
            File(".cache/app/bare/objects/file", block)
            File(".cache/app/prefix/drive_c/file", block)
            File(".cache/app/model/tokenizer.json", block)
            File(".cache/app/model/added_tokens.json", block)
            Directory(".cache/app/names") {
                for name in [
                    "gitignore", ".gitx", "prehistoric", "HISTORY.rst", "cvs", "a.swf",
                    "a.kdbxx", "key5.db", "id_rsa.pub", "#x", "quit.blender",
                    "vi.recovered",
                    "xauth", "kde-x", "tfstate", "sl", "histfile", "ssh-x",
                ] { File("\(name)", block) }
            }
            File(".cache/huggingface/hub/file", block)
            File(".cache/deno/gen/file", block)
            File(".cache/RawTherapee/images/file", block)
            File(".cache/onedriverx/file", block)
            File(".cache/gnome-control-center/file", block)
            Directory("tmp") {
                for name in ["my-xauth", "sshd", "kdeinit", "tmux", "screenshot", "dbus"] {
                    Directory("\(name)") { File("file", block) }
                }
            }
        }
        home.temporary = ["tmp"]
        let found = try home.found()
        #expect(found.kept == [:])
        #expect(found.units.count == 15)
    }
}
