import ts from "typescript-api";
import type { Project } from "./project.ts";

/** A name that the value has, where it is declared. */
export interface Step {
  file: string;
  name: string;
  /** From 1. */
  line: number;
  /** How many names it had before. */
  depth: number;
}

/** Every name that the value of a declaration gets on its way, in the order of reading: the first use, and all that comes of it, first. */
export function follow(project: Project, start: ts.Identifier): Step[] {
  const steps: Step[] = [];
  const seen = new Set<ts.Node>();
  const visit = ({ name, isPart }: Destination, depth: number): void => {
    const file = name.getSourceFile();
    if (seen.has(name) || !project.isOwn(file.fileName)) return;
    seen.add(name);
    const line = file.getLineAndCharacterOfPosition(name.getStart()).line + 1;
    steps.push({ file: file.fileName, name: name.getText(), line, depth });
    if (isPart) return;
    for (const use of usesOf(project, name)) {
      for (const next of destinationsOf(project, use)) visit(next, depth + 1);
    }
  };
  visit({ name: start, isPart: false }, 0);
  return steps;
}

function usesOf({ program, service }: Project, name: ts.Node): ts.Node[] {
  const at = name.getStart();
  const found =
    service.findReferences(name.getSourceFile().fileName, at)?.flatMap(({ references }) => references) ?? [];
  return found.flatMap(({ fileName, textSpan }) => {
    const file = program.getSourceFile(fileName);
    const use = file && tokenAt(file, textSpan.start);
    return use === undefined || use === name || !ts.isIdentifier(use) ? [] : [valueOf(use)];
  });
}

function tokenAt(file: ts.SourceFile, position: number): ts.Node | undefined {
  const inside = (node: ts.Node): ts.Node | undefined =>
    ts.forEachChild(node, (child) =>
      child.getStart() <= position && position < child.end ? inside(child) : undefined,
    ) ?? node;
  return inside(file);
}

/** The expression that has the value: of `x.options`, where `options` was found, the whole. */
function valueOf(use: ts.Node): ts.Node {
  const { parent } = use;
  return ts.isPropertyAccessExpression(parent) && parent.name === use ? parent : use;
}

interface Destination {
  name: ts.Node;
  /** Whether it gets only a part of the value: the way ends there. */
  isPart: boolean;
}

/** The declarations that get the value of an expression. */
function destinationsOf(project: Project, value: ts.Node, isPart = false): Destination[] {
  const { parent } = value;
  if (ts.isPropertyAccessExpression(parent) && parent.expression === value)
    return destinationsOf(project, parent, true);
  if (isSameValue(parent, value)) return destinationsOf(project, parent, isPart);
  if (ts.isCallExpression(parent) || ts.isNewExpression(parent))
    return parametersFor(project, parent, value).flatMap((name) => namesOf(name, isPart));
  if (ts.isVariableDeclaration(parent) && parent.initializer === value) return namesOf(parent.name, isPart);
  if (isPart) return [];
  if (ts.isShorthandPropertyAssignment(parent) || (ts.isPropertyAssignment(parent) && parent.initializer === value)) {
    return propertiesFor(project, parent).map((name) => ({ name, isPart }));
  }
  if (ts.isSpreadAssignment(parent)) return destinationsOf(project, parent.parent);
  const returned = returnedFrom(parent, value);
  return returned === undefined ? [] : callsOf(project, returned).flatMap((call) => destinationsOf(project, call));
}

function isSameValue(parent: ts.Node, value: ts.Node): boolean {
  return (
    ts.isAwaitExpression(parent) ||
    ts.isParenthesizedExpression(parent) ||
    ts.isAsExpression(parent) ||
    ts.isSatisfiesExpression(parent) ||
    ts.isNonNullExpression(parent) ||
    (ts.isConditionalExpression(parent) && parent.condition !== value) ||
    (ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken)
  );
}

function parametersFor(project: Project, call: ts.CallExpression | ts.NewExpression, value: ts.Node): ts.BindingName[] {
  const at = call.arguments?.findIndex((argument) => argument === value) ?? -1;
  const callee = project.checker.getResolvedSignature(call)?.declaration;
  if (at < 0 || callee === undefined || callee.kind === ts.SyntaxKind.JSDocSignature) return [];
  return implementationsOf(project, callee).flatMap(({ parameters }) => {
    const parameter = parameters[at];
    return parameter === undefined ? [] : [parameter.name];
  });
}

/** Of a signature without a body, the functions that have it. */
function implementationsOf({ program, service }: Project, callee: ts.SignatureDeclaration): ts.SignatureDeclaration[] {
  if ("body" in callee && callee.body !== undefined) return [callee];
  const name = callee.name ?? (callee.parent as { name?: ts.Node }).name;
  if (name === undefined) return [];
  const found = service.getImplementationAtPosition(name.getSourceFile().fileName, name.getStart()) ?? [];
  return found.flatMap(({ fileName, textSpan }) => {
    const file = program.getSourceFile(fileName);
    let node = file && tokenAt(file, textSpan.start);
    while (node !== undefined && !ts.isFunctionLike(node) && node.end <= textSpan.start + textSpan.length)
      node = node.parent;
    if (node !== undefined && ts.isPropertyAssignment(node)) node = node.initializer;
    return node !== undefined && ts.isFunctionLike(node) ? [node] : [];
  });
}

/** The property of the type that an object literal is written for; without one, the property of the literal. */
function propertiesFor({ checker }: Project, property: ts.ObjectLiteralElementLike): ts.Node[] {
  const type = checker.getContextualType(property.parent as ts.ObjectLiteralExpression);
  const name = property.name?.getText() ?? "";
  const declared = type?.getProperty(name)?.declarations ?? [property];
  return declared.flatMap((declaration) => ts.getNameOfDeclaration(declaration) ?? []);
}

function namesOf(name: ts.BindingName, isPart: boolean): Destination[] {
  if (ts.isIdentifier(name)) return [{ name, isPart }];
  return name.elements.flatMap((element) => (ts.isBindingElement(element) ? namesOf(element.name, true) : []));
}

function returnedFrom(parent: ts.Node, value: ts.Node): ts.SignatureDeclaration | undefined {
  if (ts.isArrowFunction(parent) && parent.body === value) return parent;
  if (!ts.isReturnStatement(parent)) return undefined;
  return ts.findAncestor(parent, ts.isFunctionLike);
}

function callsOf(project: Project, callee: ts.SignatureDeclaration): ts.Node[] {
  const name = callee.name ?? (callee.parent as { name?: ts.Node }).name;
  if (name === undefined) return [];
  return usesOf(project, name).flatMap((use) => {
    const { parent } = use;
    return ts.isCallExpression(parent) && parent.expression === use ? [parent] : [];
  });
}
