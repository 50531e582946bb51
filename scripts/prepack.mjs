// `npm pack` in this folder would pack a program without its exact packages and notices.
process.stderr.write("Run `npm run package`: it builds kb and writes the tarball to build/.\n");
process.exit(1);
