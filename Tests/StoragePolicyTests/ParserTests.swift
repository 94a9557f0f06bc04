import StoragePolicy
import SystemPackage
import Testing

struct UserDirectoriesTests {
    @Test(
        "lines of user-dirs.dirs are read as xdg-user-dirs writes them",
        arguments: [
            (#"XDG_MUSIC_DIR="$HOME/Musik""#, "/home/u/Musik"),
            (#"XDG_MUSIC_DIR="/srv/music""#, "/srv/music"),
            (#"  XDG_MUSIC_DIR = "$HOME/a b""#, "/home/u/a b"),
            (#"XDG_MUSIC_DIR="$HOME/a\"b\\c\$d""#, #"/home/u/a"b\c$d"#),
            (#"XDG_MUSIC_DIR="$HOME/x" # trailing"#, "/home/u/x"),
            ("# comment\n\nXDG_MUSIC_DIR=\"$HOME/x\"\n", "/home/u/x"),
            ("XDG_MUSIC_DIR=\"$HOME/x\"\nXDG_MUSIC_DIR=\"$HOME/y\"", "/home/u/y"),
            (#"XDG_MUSIC_DIR="$HOME/""#, nil),
            (#"XDG_MUSIC_DIR="$HOME""#, nil),
            (#"XDG_MUSIC_DIR="/home/u/""#, nil),
            (#"XDG_MUSIC_DIR="Musik""#, nil),
            (#"XDG_MUSIC_DIR="$HOMEBREW/x""#, nil),
            (#"XDG_MUSIC_DIR=$HOME/x"#, nil),
            (#"XDG_MUSIC_DIR="$HOME/x"#, nil),
            (##"#XDG_MUSIC_DIR="$HOME/x""##, nil),
        ] as [(String, FilePath?)])
    func line(text: String, path: FilePath?) {
        let directories = UserDirectories(contents: Array(text.utf8), home: "/home/u")
        #expect(directories.paths["XDG_MUSIC_DIR"] == path)
    }

    @Test("names that are not UTF-8 stay as they are")
    func nonUTF8() {
        let contents = Array(#"XDG_MUSIC_DIR="$HOME/"#.utf8) + [0xFF, UInt8(ascii: "\"")]
        let path = UserDirectories(contents: contents, home: "/h").paths["XDG_MUSIC_DIR"]
        let bytes: [UInt8]? = path?.withPlatformString { text in
            (0..<4).map { UInt8(bitPattern: text[$0]) }
        }
        #expect(bytes == [0x2F, 0x68, 0x2F, 0xFF])
    }
}

struct PasswordDatabaseTests {
    @Test("homes are read, and lines that tell none are left out")
    func homes() {
        let text = """
            root:x:0:0:root:/root:/bin/bash
            # comment
            +::::::

            systemd-network:x:998:998:systemd:/:/usr/sbin/nologin
            relative:x:7:7::home:/bin/sh
            short:x:8
            number:x:many:1::/home/number:/bin/sh
            u:x:1000:1000:U,,,:/home/u:/bin/bash
            """
        let database = PasswordDatabase(contents: Array(text.utf8))
        #expect(database.accounts.map(\.home) == ["/root", "/home/u"])
        #expect(database.home(of: 1000) == "/home/u")
        #expect(database.home(of: 998) == nil)
    }
}
