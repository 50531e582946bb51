import { useInfiniteQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { MappingBody, MappingPreview, MappingRole, ProviderServer, ServerTools } from "#api/provider-servers.ts";
import { plural } from "#api/plural.ts";
import { api } from "#server/web/app/data/client.ts";
import { useRefetch } from "#server/web/app/data/refetch.ts";
import { connectionsQuery } from "#server/web/app/data/servers.ts";
import { FAULT_WORDS, ROLE_WORDS } from "./server-words.ts";
import { defaultArgument, isDeprecated, rankTools, type Tool } from "./tool-choice.ts";
import { useAct } from "#server/web/app/ui/act.ts";
import { Badge, Section } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { Dialog } from "#server/web/app/ui/dialog.tsx";
import { Form, SelectField, text, TextField } from "#server/web/app/ui/form.tsx";
import type { Choice } from "#server/web/app/ui/picker.tsx";
import { Notice, ProblemNotice } from "#server/web/app/ui/notice.tsx";
import { Row } from "#server/web/app/ui/rows.tsx";

type Mapped = NonNullable<MappingBody[MappingRole]>;

const ROLES: readonly MappingRole[] = ["list", "search", "fetch"];

/** The tools that kb uses, for admins. The server is queried only when someone opens them. */
export function Tools({ server }: { server: ProviderServer }) {
  const [chosenId, setChosenId] = useState<string>();
  const [tools, setTools] = useState<ServerTools>();
  const [editing, setEditing] = useState<MappingRole>();
  const refetch = useRefetch();
  const { run, isBusy, problem } = useAct(async (work: () => Promise<ServerTools>) => setTools(await work()));
  const known = useInfiniteQuery(connectionsQuery(server.id)).data;
  const mine = (known ?? []).filter((one) => one.isMine && one.status === "active");
  const path = { id: server.id };
  const { kind, hasSecret } = server.auth;
  // Without a sign-in, everyone gets the same answer. If kb has no secret of its own, it must query the server as a
  // person.
  const canAskItself = kind === "none" || (kind !== "oauth" && hasSecret);
  const askers: readonly Choice[] = [
    ...(canAskItself ? [["", "The server's own sign-in"] as const] : []),
    ...mine.map(({ id, name }): Choice => [id, `Your connection ${name}`]),
  ];
  const connectionId = (kind === "none" ? "" : (chosenId ?? askers[0]?.[0])) ?? "";
  const asked = connectionId === "" ? {} : { connectionId };

  const check = () => run(() => api.get("/api/mcp-servers/{id}/tools", { params: { path, query: asked } }));
  const store = async (mapping: MappingBody | null): Promise<ServerTools> => {
    const body = { mapping, ...asked };
    const stored = await api.put("/api/mcp-servers/{id}/mapping", { params: { path }, body });
    await refetch(["servers"]);
    return stored;
  };
  // The server returns only mappings that it has accepted.
  const mapping = (tools?.mapping ?? {}) as MappingBody;

  return (
    <Section description="kb calls only the tools that you choose here." title="Tools">
      {known && askers.length === 0 && (
        <p>Connect it first: the server lists its tools only for people who signed in.</p>
      )}
      <div className="space-y-4" hidden={askers.length === 0}>
        <div className="flex flex-wrap items-end gap-3">
          {kind !== "none" && mine.length > 0 && (
            <div className="min-w-0 flex-1 basis-56 sm:max-w-xs">
              <SelectField
                choices={askers}
                label="Ask with"
                name="connectionId"
                onChoose={setChosenId}
                value={connectionId}
              />
            </div>
          )}
          <Button isBusy={isBusy} onClick={check}>
            {tools === undefined ? "Show tools" : "Look again"}
          </Button>
        </div>
        <ProblemNotice problem={problem} />
        {tools && (
          <div aria-live="polite">
            <p className="text-muted">
              {plural(tools.tools.length, "tool")}
              {tools.leftOut > 0 && `, and ${tools.leftOut} with names or schemas that kb can't use`}.
            </p>
            <ul className="divide-line mt-1 divide-y">
              {ROLES.map((role) => (
                <Use
                  fault={tools.faults.find((one) => one.role === role)}
                  isBusy={isBusy}
                  key={role}
                  onChange={() => setEditing(role)}
                  onEnd={() => run(() => store(without(mapping, role)))}
                  role={role}
                  tool={mapping[role]?.tool}
                />
              ))}
            </ul>
          </div>
        )}
      </div>
      {editing && tools && (
        <Dialog onClose={() => setEditing(undefined)} title={ROLE_WORDS[editing].title}>
          <Editor
            mapped={mapping[editing]}
            onDone={() => setEditing(undefined)}
            onSave={async (mapped) => setTools(await store({ ...mapping, [editing]: mapped }))}
            preview={(mapped, value) =>
              api.post("/api/mcp-servers/{id}/mapping/previews", {
                params: { path },
                body: { role: editing, ...mapped, ...asked, ...(value !== "" && { value }) },
              })
            }
            role={editing}
            tools={rankTools(tools.tools, editing)}
          />
        </Dialog>
      )}
    </Section>
  );
}

function without(mapping: MappingBody, role: MappingRole): MappingBody | null {
  const { [role]: _gone, ...rest } = mapping;
  return Object.keys(rest).length === 0 ? null : rest;
}

interface UseProps {
  role: MappingRole;
  tool: string | undefined;
  fault: ServerTools["faults"][number] | undefined;
  isBusy: boolean;
  onChange(): void;
  onEnd(): void;
}

function Use({ role, tool, fault, isBusy, onChange, onEnd }: UseProps) {
  const { title, about } = ROLE_WORDS[role];
  return (
    <Row
      actions={
        <>
          <Button
            aria-label={`${tool === undefined ? "Choose a tool" : "Change"}: ${title}`}
            kind="quiet"
            onClick={onChange}
          >
            {tool === undefined ? "Choose a tool" : "Change"}
          </Button>
          {tool && (
            <Button aria-label={`Stop: ${title}`} isBusy={isBusy} kind="quiet" onClick={onEnd}>
              Stop
            </Button>
          )}
        </>
      }
      badges={
        tool === undefined ? (
          <Badge>Not used</Badge>
        ) : (
          <Badge tone={fault ? "warn" : "ok"}>
            <span className="wrap-anywhere">{tool}</span>
          </Badge>
        )
      }
      title={title}
    >
      <p className="text-muted">{about}</p>
      {fault && <p className="text-warn">{FAULT_WORDS[fault.reason]}</p>}
    </Row>
  );
}

interface EditorProps {
  role: MappingRole;
  /** The tools, best match first. */
  tools: readonly Tool[];
  mapped: Mapped | undefined;
  preview(mapped: Mapped, value: string): Promise<MappingPreview>;
  onSave(mapped: Mapped): Promise<void>;
  onDone(): void;
}

/** A form for a tool, its arguments, and one call that previews the result. */
function Editor({ role, tools, mapped, preview, onSave, onDone }: EditorProps) {
  const [name, setName] = useState(mapped?.tool ?? tools[0]?.name ?? "");
  const tool = tools.find((one) => one.name === name);
  const frame = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState<MappingPreview>();
  const known = mapped?.tool === name ? mapped : undefined;
  const [argument, setArgument] = useState(known?.argument);
  const check = useAct(async (mapped: Mapped) => {
    setSeen(undefined);
    setSeen(await preview(mapped, text(fieldsOf(frame.current), "value")));
  });
  if (tool === undefined) return <Notice>The server has no tool that kb can use.</Notice>;
  const chosen = argument ?? defaultArgument(tool, role);

  const others = tool.arguments.filter((one) => one.name !== chosen);
  const fieldOf = (one: Tool["arguments"][number]) => (
    <ArgumentField field={one} key={`${name} ${one.name}`} value={known?.args[one.name]} />
  );
  const optional = others.filter(({ isRequired }) => !isRequired);
  return (
    <div ref={frame}>
      <Form
        onDone={onDone}
        onSubmit={(fields) => onSave(mappedOf(tool, chosen, fields))}
        submit="Use this tool"
        toast="Saved"
      >
        <SelectField
          choices={tools.map((one) => [one.name, labelOf(one)])}
          hint={
            tool.isReadOnly
              ? "The server says that this tool only reads."
              : "The server doesn't say that this tool only reads. Review it before you use it."
          }
          label="Tool"
          name="tool"
          onChoose={(wanted) => {
            setName(wanted);
            setArgument(undefined);
            setSeen(undefined);
          }}
          value={name}
        />
        {tool.description && <Description key={name} text={tool.description} />}
        <SelectField
          choices={[
            ...(role === "list" || tool.arguments.length === 0 ? [["", "None"] as const] : []),
            ...tool.arguments.map((one) => [one.name, one.name] as const),
          ]}
          label={ROLE_WORDS[role].argument}
          name="argument"
          onChoose={setArgument}
          value={chosen}
        />
        {others.filter(({ isRequired }) => isRequired).map(fieldOf)}
        {optional.length > 0 && (
          <details open={optional.some((one) => known?.args[one.name] !== undefined)}>
            <summary className="text-accent w-fit cursor-pointer">More arguments</summary>
            <div className="mt-3 space-y-4">{optional.map(fieldOf)}</div>
          </details>
        )}
        <div className="border-line space-y-3 border-t pt-4">
          <TextField
            hint="A preview calls the tool once. Nothing is stored."
            isOptional
            label={ROLE_WORDS[role].value}
            maxLength={2_000}
            name="value"
          />
          <Button isBusy={check.isBusy} onClick={() => check.run(mappedOf(tool, chosen, fieldsOf(frame.current)))}>
            Preview
          </Button>
          <ProblemNotice problem={check.problem} />
          {seen && <Seen preview={seen} />}
        </div>
      </Form>
    </div>
  );
}

function fieldsOf(frame: HTMLElement | null): FormData {
  return new FormData(frame?.querySelector("form") ?? undefined);
}

function labelOf(tool: Tool): string {
  const { name, title } = tool;
  const label = title === undefined ? name : `${title} (${name})`;
  return isDeprecated(tool) ? `${label}, deprecated` : label;
}

/** The server's description. It is collapsed if it is long, so that no scroll area is inside another. */
function Description({ text: written }: { text: string }) {
  const quote = (
    <blockquote className="border-line text-muted border-l-2 pl-3 wrap-anywhere whitespace-pre-line">
      {written}
    </blockquote>
  );
  if (written.length <= LONG_CHARS) return quote;
  return (
    <details>
      <summary className="text-accent w-fit cursor-pointer">What the server says about it</summary>
      <div className="mt-3">{quote}</div>
    </details>
  );
}

/** About four lines. */
const LONG_CHARS = 200;

function ArgumentField({ field, value }: { field: Tool["arguments"][number]; value: unknown }) {
  const { name, description, isRequired, values, type } = field;
  const shared = {
    label: name,
    name: `args.${name}`,
    defaultValue: value === undefined ? "" : String(value),
    ...(description !== undefined && { hint: description }),
    isOptional: !isRequired || takesNothing(field),
  };
  const listed = values ?? (type === "boolean" ? ["true", "false"] : undefined);
  if (listed === undefined) return <TextField maxLength={2_000} spellCheck={false} {...shared} />;
  return <SelectField choices={["", ...listed].map((one) => [one, one === "" ? "Not sent" : one])} {...shared} />;
}

/** Whether a required text may be empty, which searches for everything. */
function takesNothing({ type, values }: Tool["arguments"][number]): boolean {
  return type === "string" && values === undefined;
}

/**
 * Returns the form's values, in the types of the tool's schema. An empty field is sent only if the tool requires it.
 */
function mappedOf({ name, arguments: known }: Tool, argument: string, fields: FormData): Mapped {
  const args: Mapped["args"] = {};
  for (const one of known) {
    const typed = text(fields, `args.${one.name}`);
    if (one.name === argument || (typed === "" && !(one.isRequired && takesNothing(one)))) continue;
    const isNumber = (one.type === "integer" || one.type === "number") && Number.isFinite(Number(typed));
    args[one.name] = one.type === "boolean" ? typed === "true" : isNumber ? Number(typed) : typed;
  }
  return { tool: name, args, ...(argument !== "" && { argument }) };
}

function Seen({ preview: { entries, text: read } }: { preview: MappingPreview }) {
  if (read !== undefined) {
    return (
      <section aria-label="What kb would read" className="bg-sunken border-line rounded-md border px-3 py-2 text-xs">
        <p className="wrap-anywhere whitespace-pre-wrap">{read === "" ? "(no text)" : read}</p>
      </section>
    );
  }
  if (entries === undefined || entries.length === 0)
    return <Notice tone="warn">kb found no entries in the tool's result.</Notice>;
  return (
    <ul aria-label="What kb would read" className="border-line divide-line divide-y rounded-md border">
      {entries.map(({ id, title, text: excerpt }) => (
        <li className="px-3 py-2 wrap-anywhere" key={id}>
          <span className="font-medium">{title}</span>
          {title !== id && <span className="text-muted block text-xs">{id}</span>}
          {excerpt && <span className="text-muted line-clamp-2">{excerpt}</span>}
        </li>
      ))}
    </ul>
  );
}
