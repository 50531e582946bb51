import { expect, test } from "vitest";
import { isSecretFile } from "#sources/file-scope/secret-files.ts";

test("files that hold secrets are known by their names", () => {
  const secret =
    "id_rsa ID_RSA id_ed25519 id_ecdsa_sk id_rsa.bak server.pem tls.KEY vault.kdbx old.kdb prod.tfstate " +
    "prod.tfstate.backup terraform.tfvars credentials credentials.json Credentials.csv .credentials secrets.yml " +
    "secrets.yaml secret.json service-account.json service-account-prod.json my-service-account.json kubeconfig " +
    "kubeconfig.yaml office.ovpn wallet.dat .env .env.local .env.production prod.env env cert.p12 cert.pfx app.jks " +
    "putty.ppk .netrc .pgpass .npmrc .pypirc .git-credentials .htpasswd client_secret_123.json shadow ssh_host_rsa_key";
  expect(secret.split(" ").filter((name) => !isSecretFile(name))).toEqual([]);
});

test("ordinary files and templates are not taken for secrets", () => {
  const ordinary =
    "readme.md id_rsa.pub keys.md keyboard.txt secrets-of-the-sea.md .env.example .env.sample env.template environment.ts " +
    "wallet.ts kubernetes.yaml service.json shadows.png terraform.tf token.ts monkey.txt my.pem.md envelope.txt";
  expect(ordinary.split(" ").filter(isSecretFile)).toEqual([]);
});
