import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { z } from "zod";
import { findPythonWith, type Python } from "../python.ts";

const PACKAGES = ["moto[s3,server]==5.2.5"];

/** Other versions read keys of signed requests otherwise. */
const PROBE = "import boto3, moto.server; assert moto.__version__ == '5.2.5'";

/** A Python that has moto, a server that answers as Amazon's services do. */
export function findMoto(): Python | undefined {
  return findPythonWith({ probe: PROBE, packages: PACKAGES, cache: "kb-moto-5.2.5", what: "S3" });
}

/** A bucket `files` in eu-west-1 that checks signatures and rights; does what each line says. */
const SCRIPT = `
import json, logging, sys
logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
import boto3, moto.settings
from moto.core import DEFAULT_ACCOUNT_ID
from moto.s3.models import s3_backends
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
_, port = server.get_host_and_port()
root = {"endpoint_url": f"http://127.0.0.1:{port}", "region_name": "eu-west-1"}
root.update(aws_access_key_id="root", aws_secret_access_key="root")
iam = boto3.client("iam", **root)
def make_user(name, *actions):
    policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": actions, "Resource": "*"}]}
    iam.create_user(UserName=name)
    iam.put_user_policy(UserName=name, PolicyName="rights", PolicyDocument=json.dumps(policy))
    key = iam.create_access_key(UserName=name)["AccessKey"]
    return {"accessKeyId": key["AccessKeyId"], "secretAccessKey": key["SecretAccessKey"]}
users = {
    "reader": make_user("reader", "s3:ListBucket", "s3:GetObject"),
    "lister": make_user("lister", "s3:ListBucket"),
    "nobody": make_user("nobody", "sqs:ListQueues"),
}
s3 = boto3.client("s3", **root)
s3.create_bucket(Bucket="files", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
store = s3_backends[DEFAULT_ACCOUNT_ID]["aws"]
moto.settings.INITIAL_NO_AUTH_ACTION_COUNT = 0
print(json.dumps({"port": port, "users": users}), flush=True)
def keys_of(user):
    client = boto3.client("s3", endpoint_url=root["endpoint_url"], region_name="eu-west-1",
        aws_access_key_id=user["accessKeyId"], aws_secret_access_key=user["secretAccessKey"])
    try:
        pages = client.get_paginator("list_objects_v2").paginate(Bucket="files")
        return [each["Key"] for page in pages for each in page.get("Contents", [])]
    except client.exceptions.ClientError:
        return []
for line in sys.stdin:
    asked = json.loads(line)
    if "accessKeyId" in asked:
        print(json.dumps(keys_of(asked)), flush=True)
        continue
    for change in asked:
        if "text" in change:
            store.put_object("files", change["key"], change["text"].encode(), storage=change.get("storage"))
        else:
            store.delete_object("files", change["key"])
    print("done", flush=True)
`;

const Keys = z.object({ accessKeyId: z.string(), secretAccessKey: z.string() });
const Started = z.object({ port: z.number(), users: z.object({ reader: Keys, lister: Keys, nobody: Keys }) });

/** Without a text the object is deleted. */
export interface Change {
  key: string;
  text?: string;
  storage?: string;
}

export async function startMoto(python: Python) {
  const child = spawn(python.command, ["-c", SCRIPT], { env: python.env, stdio: ["pipe", "pipe", "pipe"] });
  let errors = "";
  child.stderr.on("data", (piece: Buffer) => (errors += piece.toString("utf8")));
  const lines = createInterface({ input: child.stdout });
  const next = async () => {
    const [line] = await Promise.race([
      once(lines, "line"),
      once(child, "exit").then(() => Promise.reject(new Error(`moto ended: ${errors.slice(-2_000)}`))),
    ]);
    return String(line);
  };
  const started = Started.parse(JSON.parse(await next()));
  return {
    ...started,
    async change(changes: readonly Change[]): Promise<void> {
      const done = next();
      child.stdin.write(`${JSON.stringify(changes)}\n`);
      await done;
    },
    /** What Amazon's own client lists with these keys; nothing where it is refused. */
    async keysOf(user: z.infer<typeof Keys>): Promise<string[]> {
      const done = next();
      child.stdin.write(`${JSON.stringify(user)}\n`);
      return z.array(z.string()).parse(JSON.parse(await done));
    },
    stop: () => void child.kill("SIGKILL"),
  };
}
