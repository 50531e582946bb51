/**
 * Interfaces of two methods or more and nothing else, that one function or class gives and no other: their signatures are
 * read twice. The type is `ReturnType` of what makes it then, and the docs stand at its members.
 */
import ts from "typescript-api";

/** Those that stay, each with its reason. */
export const KEPT_INTERFACES: Readonly<Record<string, string>> = {
  Extractor: "a port: what reads files takes it as an argument and must not load the pool of child processes",
  SearchIndex: "a port with a contract suite of its own; the service must not load the search threads",
  StoredItems: "of the contract of a source, which can't import from the server, where it is made",
  SourceWebhook: "of the contract of a source: an app's part of it is a file of its own for one source only",
  ConnectorAccounts: "connectors come before accounts, which provide it, and can't import from them",
  OdfFile: "one function gives two: for a ZIP archive and for a flat document",
  Store: "its methods pass a store on, so that `ReturnType` of its maker would be circular",
};

export function oneImplementation(nodes: readonly ts.Node[]): string[] {
  const given = new Map<string, number>();
  const count = (type: ts.TypeNode | undefined) => {
    const name = type && nameOfType(type);
    if (name !== undefined) given.set(name, (given.get(name) ?? 0) + 1);
  };
  for (const node of nodes) {
    if (ts.isFunctionLike(node)) count(node.type);
    else if (ts.isVariableDeclaration(node)) count(node.type);
    else if (ts.isSatisfiesExpression(node)) count(node.type);
  }
  return nodes.flatMap((node) =>
    ts.isInterfaceDeclaration(node) && isOfMethods(node) && given.get(node.name.text) === 1 ? [node.name.text] : [],
  );
}

function isOfMethods({ members }: ts.InterfaceDeclaration): boolean {
  return members.length > 1 && members.every((member) => ts.isMethodSignature(member));
}

/** `X`, or what a promise of it holds. */
function nameOfType(type: ts.TypeNode): string | undefined {
  if (!ts.isTypeReferenceNode(type) || !ts.isIdentifier(type.typeName)) return undefined;
  const [inner] = type.typeArguments ?? [];
  return type.typeName.text === "Promise" && inner ? nameOfType(inner) : type.typeName.text;
}
