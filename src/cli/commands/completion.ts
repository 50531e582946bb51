import { command, oneOf } from "#cli/line/command.ts";

export const completion = command(
  {
    summary: "Print a script that completes commands, options and their values in your shell.",
    details:
      "Load it in every shell: in bash, add source <(kb completion bash) to ~/.bashrc. In zsh, add source <(kb completion zsh) to ~/.zshrc, after compinit. In fish, save it as ~/.config/fish/completions/kb.fish.",
    arguments: { "<shell>": oneOf(["bash", "zsh", "fish"], "your shell") },
    examples: [
      "kb completion bash > ~/.local/share/bash-completion/completions/kb",
      "kb completion fish > ~/.config/fish/completions/kb.fish",
    ],
  },
  async ({ args }, deps) => {
    deps.io.stdout.write(SCRIPTS[args.shell]);
  },
);

/** Each script calls `kb __complete`, which prints lines with a word, a tab and its description. If there are none, the shell offers files. */
const SCRIPTS = {
  bash: `# kb completion for bash
_kb() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(command "\${COMP_WORDS[0]}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _kb kb
`,
  zsh: `#compdef kb
# kb completion for zsh
_kb() {
  local line word
  local -a entries
  while IFS= read -r line; do
    word=\${line%%$'\\t'*}
    entries+=("\${word//:/\\\\:}:\${line#*$'\\t'}")
  done < <(command \${words[1]} __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#entries} )); then
    _describe kb entries
  else
    _files
  fi
}
compdef _kb kb
`,
  fish: `# kb completion for fish
function __kb_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found (command $words[1] __complete $words[2..] 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c kb -f -a '(__kb_complete)'
`,
} as const;
