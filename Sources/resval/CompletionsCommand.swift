import ArgumentParser
import CommandSupport

struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Print a shell's completion script.",
        discussion: """
            EXAMPLES
              resval completions bash > ~/.local/share/bash-completion/completions/resval
              resval completions zsh > ~/.zfunc/_resval
              resval completions fish > ~/.config/fish/completions/resval.fish
            """)

    enum Shell: String, ExpressibleByArgument, CaseIterable {
        case bash, zsh, fish
    }

    @Argument(help: "bash, zsh or fish.")
    var shell: Shell

    func run() {
        let parserShell: CompletionShell =
            switch shell {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        StandardOutput.shared.write(ResvalCommand.completionScript(for: parserShell) + "\n")
    }
}
