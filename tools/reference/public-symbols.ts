import { type Node, SyntaxKind } from 'typescript/unstable/ast'
import { API, type Checker, type Project, type Symbol as Sym, SymbolFlags } from 'typescript/unstable/sync'
import { importableNames, type PackageExports } from '../package-exports.ts'
import { fromRoot } from '../repo.ts'
import { declarationText, isOurs, memberText } from './declaration-text.ts'

/** A property or a method of a public type. */
export interface PublicMember {
  readonly name: string
  readonly required: boolean
  /** What stands after its name: a type, or the parameters and the result. */
  readonly type: string
  readonly doc: string
}

export interface PublicSymbol {
  readonly name: string
  readonly isType: boolean
  readonly isFunction: boolean
  /** Relative to the root of the repository. */
  readonly file: string
  readonly doc: string
  readonly examples: readonly string[]
  /** The declaration as a reader needs it: without bodies, and without the members that are listed below. */
  readonly declaration: string
  readonly members: readonly PublicMember[]
}

export interface PublicModule {
  /** What a user imports: `justonce/sqlite`. */
  readonly name: string
  readonly symbols: readonly PublicSymbol[]
}

/** Everything that a user can import, as the compiler sees it. */
export function readPublicModules(exports: PackageExports, configFile = 'tools/tsconfig.build.json'): PublicModule[] {
  const api = new API({ cwd: fromRoot('.') })
  try {
    const project = api.updateSnapshot({ openProjects: [fromRoot(configFile)] }).getProject(fromRoot(configFile))
    if (project === undefined) throw new Error(`The compiler cannot open ${configFile}.`)
    return importableNames(exports).map((name) => {
      const target = exports[`.${name.slice('justonce'.length)}`]
      const source = typeof target === 'object' ? target['justonce-source'] : undefined
      if (source === undefined) throw new Error(`${name} has no source in package.json.`)
      return { name, symbols: symbolsOf(project, fromRoot(source)) }
    })
  } finally {
    api.close()
  }
}

function symbolsOf(project: Project, file: string): PublicSymbol[] {
  const { checker, program } = project
  const source = program.getSourceFile(file)
  const module = source && checker.getSymbolAtLocation(source)
  if (module === undefined) throw new Error(`${file} exports nothing.`)
  return checker.getExportsOfModule(module).map((exported) => {
    const symbol = exported.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
    return described(exported.name, symbol, checker)
  })
}

function described(name: string, symbol: Sym, checker: Checker): PublicSymbol {
  const nodes = nodesOf(symbol)
  const [first] = nodes
  if (first === undefined) throw new Error(`${name} is declared nowhere.`)
  const examples = symbol.getJsDocTags(checker).flatMap((tag) => (tag.name === 'example' ? [tag.text ?? ''] : []))
  return {
    name,
    isType: first.kind === SyntaxKind.InterfaceDeclaration || first.kind === SyntaxKind.TypeAliasDeclaration,
    isFunction: first.kind === SyntaxKind.FunctionDeclaration,
    file: first.getSourceFile().fileName.slice(fromRoot('').length).replace(/^\//, ''),
    doc: symbol.getDocumentationComment(checker).trim(),
    examples: examples.map((text) => text.trim()).filter((text) => text !== ''),
    declaration: declarationText(name, nodes, checker),
    members: hasMembers(first) ? membersOf(symbol, checker) : [],
  }
}

function hasMembers({ kind }: Node): boolean {
  return kind === SyntaxKind.InterfaceDeclaration || kind === SyntaxKind.ClassDeclaration
}

/** Inherited ones included, unless they come from Node or from the language itself. */
function membersOf(symbol: Sym, checker: Checker): PublicMember[] {
  return checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol)).flatMap((member) => {
    const nodes = nodesOf(member).filter(isOurs)
    const [first] = nodes
    if (first === undefined || member.name.startsWith('__') || isHidden(first)) return []
    const doc = member.getDocumentationComment(checker).trim()
    const required = (member.flags & SymbolFlags.Optional) === 0
    return [{ name: member.name, required, type: memberText(member.name, nodes, checker), doc }]
  })
}

function isHidden(node: Node): boolean {
  return /^(?:private|protected|static|#)/.test(node.getText())
}

function nodesOf(symbol: Sym): Node[] {
  return symbol.declarations.flatMap((handle) => handle.resolve() ?? [])
}
