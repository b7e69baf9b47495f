import { type Command, UsageError } from '../command.ts'
import { helpOf } from '../help.ts'
import { everywhere } from '../operator-command.ts'

/** Prints what completes the commands in a shell. */
export function completionCommand(commands: () => readonly Command[]): Command {
  const about = {
    name: 'completion',
    summary: 'prints the completion of commands for bash, zsh or fish',
    about: `Prints the completion of commands. For bash: eval "$(justonce completion bash)" in ~/.bashrc; for zsh the same with zsh in
~/.zshrc; for fish: justonce completion fish | source`,
    takes: ['shell'],
  }
  return {
    ...about,
    help: helpOf(about.name, about),
    async run([shell = ''], { out }) {
      const print = shells[shell]
      if (print === undefined) throw new UsageError('which shell? Give bash, zsh or fish.')
      out.write(print(wordsOf(commands())))
      return 0
    },
  }
}

interface Words {
  readonly name: string
  readonly summary: string
  readonly actions: readonly string[]
  readonly options: readonly string[]
}

function wordsOf(commands: readonly Command[]): readonly Words[] {
  return commands.map(({ name, summary, actions = [], options = {} }) => {
    const own = [options, ...actions.map((action) => action.options ?? {}), everywhere]
    const names = new Set(own.flatMap((each) => Object.keys(each)).map((option) => `--${option}`))
    return { name, summary, actions: actions.map((action) => action.name), options: [...names] }
  })
}

const bash = (commands: readonly Words[]): string => `_justonce() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  case "\${COMP_WORDS[1]}" in
${commands.map(({ name, actions, options }) => `    ${name}) COMPREPLY=($(compgen -W "${[...actions, ...options].join(' ')}" -- "$word")) ;;`).join('\n')}
    *) COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(' ')}" -- "$word")) ;;
  esac
}
complete -o default -F _justonce justonce
`

const shells: Readonly<Record<string, (commands: readonly Words[]) => string>> = {
  bash,
  zsh: (commands) => `autoload -U +X bashcompinit && bashcompinit\n${bash(commands)}`,
  fish: (commands) =>
    commands
      .flatMap(({ name, summary, actions, options }) => [
        `complete -c justonce -n __fish_use_subcommand -a ${name} -d '${summary.replaceAll("'", '')}'`,
        ...[...actions, ...options].map(
          (word) => `complete -c justonce -n '__fish_seen_subcommand_from ${name}' -a '${word}'`,
        ),
      ])
      .map((line) => `${line}\n`)
      .join(''),
}
