import ArgumentParser

/// A shell for which completions can be made.
package enum Shell: String, CaseIterable, ExpressibleByArgument, Sendable {
    case bash, zsh, fish

    /// Returns a script for the shell that asks a program for what may be typed next.
    ///
    /// The script runs the program of that name on the path, never another one of the command
    /// line, which another user may have put there.
    package func completionScript(for program: String) -> String {
        let template =
            switch self {
            case .bash: bashScript
            case .zsh: zshScript
            case .fish: fishScript
            }
        return template.replacing("FUNCTION", with: program.replacing("-", with: "_"))
            .replacing("PROGRAM", with: program)
    }
}

// The shells split a line in different ways. bash splits words at '=' and ':', so its script joins
// the parts and returns only the last one.

private let bashScript = #"""
    # bash completion for PROGRAM

    _FUNCTION() {
        local line=${COMP_LINE:0:COMP_POINT} words=() word part rest i
        COMPREPLY=()
        rest=$line
        for ((i = 0; i <= COMP_CWORD; i++)); do
            part=${COMP_WORDS[i]}
            if ((i == COMP_CWORD)); then part=${rest#"${rest%%[![:space:]]*}"}; fi
            if ((i > 0)) && [[ $rest != [[:space:]]* ]]; then
                words[${#words[@]}-1]+=$part
            else
                words+=("$part")
            fi
            rest=${rest#*"$part"}
        done
        word=${words[${#words[@]}-1]}
        local kept=''
        if [[ $word == *[=:]* && $COMP_WORDBREAKS == *=* ]]; then
            kept=${word%"${word##*[=:]}"}
        fi
        while IFS=$'\t' read -r part _; do
            case $part in
                :none) ;;
                :files) compopt -o default 2>/dev/null ;;
                :directories) compopt -o dirnames 2>/dev/null ;;
                *) COMPREPLY+=("${part#"$kept"}") ;;
            esac
        done < <(command PROGRAM __complete "${words[@]:1}" 2>/dev/null)
    }

    complete -F _FUNCTION PROGRAM

    """#

private let zshScript = #"""
    #compdef PROGRAM

    _FUNCTION() {
        local line names
        local -a answer candidates
        answer=("${(@f)$(command PROGRAM __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" \
            2>/dev/null)}")
        for line in $answer; do
            case $line in
                :*) names=${line#:} ;;
                *) candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
            esac
        done
        if (($#candidates)); then _describe -t values PROGRAM candidates; fi
        case $names in
            files)
                compset -P '--*='
                _files
                ;;
            directories)
                compset -P '--*='
                _files -/
                ;;
        esac
    }

    # compinit loads the file as a function that is named like it.
    if [[ $funcstack[1] == _PROGRAM ]]; then
        _FUNCTION "$@"
    else
        compdef _FUNCTION PROGRAM
    fi

    """#

private let fishScript = #"""
    # fish completion for PROGRAM

    function __FUNCTION_complete
        set -l words (commandline -opc)
        set -l current (commandline -ct | string unescape; or commandline -ct)
        set -l option (string match -r '^--[^=]*=' -- "$current"; or echo '')
        set -l value (string replace -r '^--[^=]*=' '' -- "$current")
        for line in (command PROGRAM __complete $words[2..] "$current" 2>/dev/null)
            switch $line
                case :none
                case :files
                    printf '%s\n' $option(__fish_complete_path $value)
                case :directories
                    printf '%s\n' $option(__fish_complete_directories $value)
                case '*'
                    echo $line
            end
        end
    end

    complete -c PROGRAM -f -a '(__FUNCTION_complete)'

    """#
