// Made by `npm run gen` from src/api. Do not edit.

export interface paths {
    "/.well-known/oauth-authorization-server": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Metadata of the authorization server (RFC 8414) */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The metadata */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Metadata"];
                    };
                };
                /** @description Invalid request: `invalid_request`, `credential_in_url` */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Not allowed: `host_not_allowed` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Request timeout: `request_timeout` */
                408: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Too many requests: `rate_limited` */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Headers too large: `headers_too_large` */
                431: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Internal error: `internal` */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Unavailable: `unavailable`, `database_unusable`, `database_damaged`, `restart_needed`, `resources_exhausted` */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/oauth-protected-resource": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Metadata of /mcp as a protected resource (RFC 9728) */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The metadata */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Metadata"];
                    };
                };
                /** @description Invalid request: `invalid_request`, `credential_in_url` */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Not allowed: `host_not_allowed` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Request timeout: `request_timeout` */
                408: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Too many requests: `rate_limited` */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Headers too large: `headers_too_large` */
                431: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Internal error: `internal` */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Unavailable: `unavailable`, `database_unusable`, `database_damaged`, `restart_needed`, `resources_exhausted` */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/oauth-protected-resource/mcp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The same, at the path of the resource */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The metadata */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Metadata"];
                    };
                };
                /** @description Invalid request: `invalid_request`, `credential_in_url` */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Not allowed: `host_not_allowed` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Request timeout: `request_timeout` */
                408: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Too many requests: `rate_limited` */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Headers too large: `headers_too_large` */
                431: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Internal error: `internal` */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Unavailable: `unavailable`, `database_unusable`, `database_damaged`, `restart_needed`, `resources_exhausted` */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/openid-configuration": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The same, where OpenID Connect clients look for it */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The metadata */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Metadata"];
                    };
                };
                /** @description Invalid request: `invalid_request`, `credential_in_url` */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Not allowed: `host_not_allowed` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Request timeout: `request_timeout` */
                408: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Too many requests: `rate_limited` */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Headers too large: `headers_too_large` */
                431: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Internal error: `internal` */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Unavailable: `unavailable`, `database_unusable`, `database_damaged`, `restart_needed`, `resources_exhausted` */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List your accounts, and where you can connect one */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description All of them */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            accounts: components["schemas"]["Account"][];
                            providers: components["schemas"]["AccountProvider"][];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        /** Connect an account with a token that you created at the provider */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        accountId?: string;
                        baseUrl?: string;
                        credentials: {
                            token: string;
                        };
                        /** @example gitea */
                        providerId: string;
                    };
                };
            };
            responses: {
                /** @description The account */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            account: components["schemas"]["Account"];
                        };
                    };
                };
                /** @description Invalid request: `invalid_request`, `credential_in_url`, `two_credentials`, `provider_unknown` */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                /** @description Not found: `not_found` */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `account_taken`, `account_differs` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `provider_unavailable`, `instance_not_trusted`, `source_forbidden`, `source_not_found`, `source_gone`, `address_not_allowed` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                /** @description Source unavailable: `source_unauthorized`, `source_rate_limited`, `source_unavailable` */
                502: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/accounts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Disconnect one of your accounts: its tokens are revoked, and connectors on it stop */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Disconnected */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/accounts/{provider}/authorize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Connect an account at another provider */
        get: {
            parameters: {
                query?: {
                    returnTo?: string;
                };
                header?: never;
                path: {
                    provider: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Redirect to the page that says what will be connected, and asks */
                302: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                400: components["responses"]["InvalidRequest"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        /** Connect an account; returns the provider's address to open */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    provider: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        accountId?: string;
                        returnTo?: string;
                    };
                };
            };
            responses: {
                /** @description The address to open */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            url: string;
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `account_provider_not_configured` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/accounts/{provider}/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Return from another provider */
        get: {
            parameters: {
                query?: {
                    code?: string;
                    state?: string;
                };
                header?: never;
                path: {
                    provider: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Redirect to `returnTo` with `account=connected` or `account=failed` */
                302: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                400: components["responses"]["InvalidRequest"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/accounts/{provider}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get your accounts at another provider */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    provider: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Whether it is set up, and your accounts there; never a token */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AccountStatus"];
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/accounts/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Confirm or reject the person found at the provider */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        id: string;
                        isAccepted: boolean;
                    };
                };
            };
            responses: {
                /** @description The account, and where to go on */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            account: components["schemas"]["Account"] | null;
                            returnTo: string;
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `account_taken` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Gone: `link_invalid` */
                410: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/accounts/found": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Get the person found at the provider, before you connect */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        id: string;
                    };
                };
            };
            responses: {
                /** @description The person found at the provider */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            found: components["schemas"]["FoundAccount"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                /** @description Gone: `link_invalid` */
                410: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/api-tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List your active tokens, newest first, with the MCP URL */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description At most 50 */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            mcpUrl: string;
                            tokens: components["schemas"]["Token"][];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        /** Create a token; its plaintext is shown this once */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        expiresInDays?: number;
                        name: string;
                        scopes?: components["schemas"]["Scope"][];
                    };
                };
            };
            responses: {
                /** @description The token and its secret */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            mcpUrl: string;
                            plaintext: string;
                            token: components["schemas"]["Token"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                /** @description Not allowed: `host_not_allowed`, `origin_not_allowed`, `forbidden`, `insufficient_scope`, `recent_sign_in_required` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `idempotency_key_reused`, `already_created`, `token_limit_reached`, `quota_reached` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/api-tokens/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke a token; repeating the call returns the same answer */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The token with revokedAt */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            token: components["schemas"]["Token"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/api-tokens/{id}/adopt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Keep a token that an OAuth client created, so that it no longer ends with that client */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The token, which is now yours */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            token: components["schemas"]["Token"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                /** @description Not allowed: `host_not_allowed`, `origin_not_allowed`, `forbidden`, `recent_sign_in_required` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `token_limit_reached` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List what was done in this workspace, newest first (admin) */
        get: {
            parameters: {
                query?: {
                    action?: string;
                    cursor?: string;
                    limit?: number;
                    since?: string;
                    until?: string;
                    userId?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AuditPage"];
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/audit/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Check that the audit log is unbroken (admin) */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The result of the check */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AuditCheck"];
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/audit/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Export every row with its hash, oldest first, one JSON object per line (admin) */
        get: {
            parameters: {
                query?: {
                    since?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description NDJSON */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/x-ndjson": string;
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/audit/reads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List what your tokens and clients read, newest first; admins can ask for another member */
        get: {
            parameters: {
                query?: {
                    credential?: string;
                    cursor?: string;
                    limit?: number;
                    userId?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            nextCursor: string | null;
                            reads: components["schemas"]["AuditRead"][];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List your connectors and those with items you can see; admins see all */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                    providerId?: string;
                    q?: string;
                    state?: "pending_auth" | "active" | "paused" | "needs_reauth" | "needs_owner" | "error" | "deleting";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Oldest first */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            connectors: (components["schemas"]["Connector"] | components["schemas"]["ConnectorPublic"])[];
                            nextCursor: string | null;
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        /** Create a connector; its source is checked first */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        access: {
                            /** @default [] */
                            groupIds?: string[];
                            /** @default [] */
                            memberIds?: string[];
                            /** @enum {string} */
                            visibility: "private" | "members" | "workspace" | "source";
                        };
                        accountId?: string;
                        /** @default {} */
                        config?: {
                            [key: string]: unknown;
                        };
                        connectionId?: string;
                        credentials?: {
                            [key: string]: string;
                        };
                        name: string;
                        providerId: string;
                        schedule?: {
                            everyMinutes: number;
                        } | null;
                        scope?: {
                            exclude: string[];
                            include: string[];
                            titles?: {
                                [key: string]: string;
                            };
                        };
                    };
                };
            };
            responses: {
                /** @description The connector, its first sync (null for push), and the key of a push connector, which is shown only once */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            connector: components["schemas"]["Connector"];
                            key?: string;
                            sync: components["schemas"]["Sync"] | null;
                            warnings?: string[];
                        };
                    };
                };
                /** @description Invalid request: `invalid_request`, `credential_in_url`, `two_credentials`, `provider_unknown` */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `idempotency_key_reused`, `already_created`, `quota_reached` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `provider_unavailable`, `connector_config_invalid`, `connector_scope_invalid`, `connector_check_failed`, `root_not_allowed`, `address_not_allowed`, `source_not_found`, `visibility_not_supported`, `unknown_member`, `unknown_group` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                /** @description Source unavailable: `source_unavailable`, `source_unauthorized`, `source_rate_limited` */
                502: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a connector (owner and admins) */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The connector */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            connector: components["schemas"]["Connector"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        /** Delete a connector: its items are hidden at once and purged in the background, its keys are revoked */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The connector that is being deleted */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            connector: components["schemas"]["Connector"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `connector_state_conflict` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        options?: never;
        head?: never;
        /** Update a connector's name, config, access or schedule */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        access?: {
                            /** @default [] */
                            groupIds?: string[];
                            /** @default [] */
                            memberIds?: string[];
                            /** @enum {string} */
                            visibility: "private" | "members" | "workspace" | "source";
                        };
                        accountId?: string;
                        config?: {
                            [key: string]: unknown;
                        };
                        connectionId?: string;
                        credentials?: {
                            [key: string]: string;
                        };
                        name?: string;
                        schedule?: {
                            everyMinutes: number;
                        } | null;
                        /** @enum {boolean} */
                        takeOver?: true;
                    };
                };
            };
            responses: {
                /** @description The updated connector */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            connector: components["schemas"]["Connector"];
                            warnings?: string[];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `connector_state_conflict`, `credential_required` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `provider_unavailable`, `connector_config_invalid`, `connector_check_failed`, `root_not_allowed`, `address_not_allowed`, `source_not_found`, `visibility_not_supported`, `unknown_member`, `unknown_group` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                /** @description Source unavailable: `source_unavailable`, `source_unauthorized`, `source_rate_limited` */
                502: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        trace?: never;
    };
    "/api/connectors/{id}/browse": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Browse what the source of your connector holds */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        cursor?: string;
                        parent?: string | null;
                        query?: string;
                    };
                };
            };
            responses: {
                /** @description The nodes below the parent */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            nextCursor: string | null;
                            nodes: {
                                count?: number;
                                expandable: boolean;
                                id: string;
                                kind: string;
                                parent: string | null;
                                selectable: boolean;
                                title: string;
                            }[];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `connector_state_conflict` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `provider_unavailable`, `source_not_found` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                /** @description Source unavailable: `source_unavailable`, `source_unauthorized`, `source_rate_limited` */
                502: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/{id}/documents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Push one document: its line and its bytes; kb keeps the text */
        post: {
            parameters: {
                query?: {
                    upload?: string;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "multipart/form-data": {
                        /** Format: binary */
                        file: string;
                        line: string;
                    };
                };
            };
            responses: {
                /** @description The result; its line is 1 */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PushResult"];
                    };
                };
                /** @description Invalid request: `invalid_request`, `credential_in_url`, `two_credentials`, `push_cut` */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `push_upload_over`, `connector_state_conflict`, `quota_reached` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `principal_not_allowed` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/{id}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List a connector's items that the caller can see */
        get: operations["listConnectorFiles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/{id}/items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Push items: one JSON event per line, one result per line */
        post: {
            parameters: {
                query?: {
                    firstLine?: number;
                    upload?: string;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/x-ndjson": string;
                };
            };
            responses: {
                /** @description One PushResult per line, in order */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/x-ndjson": string;
                    };
                };
                /** @description Invalid request: `invalid_request`, `credential_in_url`, `two_credentials`, `push_cut` */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `push_upload_over`, `push_upload_incomplete`, `connector_state_conflict`, `quota_reached` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/{id}/items/{externalId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove one pushed item */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    externalId: string;
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description `held`: its removal waits for approval */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @enum {string} */
                            result: "removed" | "held" | "absent";
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `connector_state_conflict` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Pause the schedule and cancel the running sync; items stay visible */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The connector */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            connector: components["schemas"]["Connector"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `connector_state_conflict` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/{id}/people": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the users that a connector's source named, and which members they are (owner and admins) */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                    unlinked?: "true" | "false";
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            nextCursor: string | null;
                            people: components["schemas"]["SourceUser"][];
                            summary: components["schemas"]["PeopleSummary"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        /** Link users of a source to members, or unlink them (admin; never yourself) */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        links: {
                            principal: string;
                            userId: string | null;
                        }[];
                    };
                };
            };
            responses: {
                /** @description The users as they are now */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            people: components["schemas"]["SourceUser"][];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `instance_not_trusted`, `unknown_person`, `unknown_member` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/{id}/removals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List removals that wait for approval */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description By kbId */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            nextCursor: string | null;
                            removals: {
                                externalId: string | null;
                                /**
                                 * Format: date-time
                                 * @example 2026-11-21T09:30:00.000Z
                                 */
                                heldAt: string;
                                kbId: string;
                                syncId: string | null;
                                title: string | null;
                            }[];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/{id}/removals/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Approve held removals */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        kbIds?: string[];
                    };
                };
            };
            responses: {
                /** @description How many */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            removed: number;
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `connector_state_conflict` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/{id}/removals/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Reject held removals */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        kbIds?: string[];
                    };
                };
            };
            responses: {
                /** @description How many */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            kept: number;
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `connector_state_conflict` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/{id}/removed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List items that were removed in the last 7 days and can be restored */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description By kbId */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            nextCursor: string | null;
                            removed: {
                                kbId: string;
                                /**
                                 * Format: date-time
                                 * @example 2026-11-21T09:30:00.000Z
                                 */
                                removedAt: string;
                            }[];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resume after a pause or an error */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The connector */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            connector: components["schemas"]["Connector"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `connector_state_conflict`, `credential_required` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Cannot be processed: `provider_unavailable` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/{id}/rotate-key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a new key for a push connector; it is shown only once
         * @description The key goes to the connector's owner alone. An admin who rotates someone else's key ends it at once and gets `key: null`; the owner makes the new one. Where the owner left the workspace, its owner takes the connector over.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        /** @default 600 */
                        overlapSeconds?: number;
                    };
                };
            };
            responses: {
                /** @description The new key */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            key: string | null;
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `idempotency_key_reused`, `already_created`, `connector_state_conflict` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/{id}/scope": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Change what a connector includes */
        patch: {
            parameters: {
                query?: {
                    dryRun?: "true" | "false";
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        exclude: string[];
                        include: string[];
                        titles?: {
                            [key: string]: string;
                        };
                    };
                };
            };
            responses: {
                /** @description The connector, the sync that reads what was added (null on a dry run), and what changes */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            connector: components["schemas"]["Connector"];
                            plan: {
                                added: number | null;
                                estimatedCalls: number | null;
                                rechecked: number;
                                removed: number | null;
                            };
                            sync: components["schemas"]["Sync"] | null;
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `connector_state_conflict` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `connector_scope_invalid`, `provider_unavailable`, `source_not_found` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                /** @description Source unavailable: `source_unavailable`, `source_unauthorized`, `source_rate_limited` */
                502: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        trace?: never;
    };
    "/api/connectors/{id}/syncs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List a connector's syncs */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Newest first */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            nextCursor: string | null;
                            syncs: components["schemas"]["Sync"][];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        /** Start a sync, or join the queued one */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        items?: string[];
                        /** @enum {string} */
                        mode?: "full" | "incremental" | "identities" | "items";
                    };
                };
            };
            responses: {
                /** @description The queued sync */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            sync: components["schemas"]["Sync"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `idempotency_key_reused`, `already_created`, `connector_state_conflict` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `provider_unavailable` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/{id}/syncs/{syncId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One run */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                    syncId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The run */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            sync: components["schemas"]["Sync"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/{id}/syncs/{syncId}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel a sync; what it stored stays */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                    syncId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The sync, which is ending or has ended */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            sync: components["schemas"]["Sync"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `sync_not_running` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/{id}/uploads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Start an upload; a new set replaces one that is open */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        /**
                         * @default add
                         * @enum {string}
                         */
                        mode?: "add" | "set";
                        name?: string;
                        /** @default false */
                        resume?: boolean;
                    };
                };
            };
            responses: {
                /** @description The upload */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            upload: components["schemas"]["PushUpload"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `idempotency_key_reused`, `already_created`, `connector_state_conflict` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/{id}/uploads/{uploadId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an upload's progress */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                    uploadId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The upload */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            upload: components["schemas"]["PushUpload"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/{id}/uploads/{uploadId}/end": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Finish an upload; for a set, items that were not sent are removed, or held for approval */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                    uploadId: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        lines?: number;
                    };
                };
            };
            responses: {
                /** @description The finished upload */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            upload: components["schemas"]["PushUpload"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `push_upload_over`, `push_upload_incomplete`, `connector_state_conflict` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/{id}/webhook": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the address at which the app can notify kb of changes */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The address */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            webhook: {
                                /** @description The secret that kb waits for; null = kb accepts none */
                                offered: {
                                    /** @description What the app sent, for you to confirm there; null = nothing yet */
                                    secret: string | null;
                                    /**
                                     * Format: date-time
                                     * @description kb waits for the app's secret, and shows it, until this time
                                     * @example 2026-11-21T09:30:00.000Z
                                     */
                                    until: string;
                                } | null;
                                /**
                                 * Format: date-time
                                 * @description null = no secret yet, so that every notification is refused
                                 * @example 2026-11-21T09:30:00.000Z
                                 */
                                secretCreatedAt: string | null;
                                /**
                                 * @description Who makes the secret. app = the app sends it to the address once, and you confirm it there
                                 * @enum {string}
                                 */
                                secretFrom: "kb" | "app";
                                /** @description What kb subscribed to at the app by itself; null = nothing, so you add the address there */
                                subscription: {
                                    /**
                                     * Format: date-time
                                     * @description kb renews it before then. null = it doesn't expire, or doesn't exist
                                     * @example 2026-11-21T09:30:00.000Z
                                     */
                                    expiresAt: string | null;
                                    problem: components["schemas"]["SourceProblem"] & (Record<string, never> | null);
                                } | null;
                                /** @description Where the app sends its notifications */
                                url: string;
                            };
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `connector_state_conflict` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        /**
         * Create a secret for a connector's webhook; it is shown only once, and the previous one stops working
         * @description Where the app makes the secret (`secretFrom: app`), the answer is `secret: null`: kb takes the next one that the app tells to the address within an hour, and shows it in `webhook.offered`, so that you can confirm it in the app.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The address and the secret */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            secret: string | null;
                            webhook: {
                                /** @description The secret that kb waits for; null = kb accepts none */
                                offered: {
                                    /** @description What the app sent, for you to confirm there; null = nothing yet */
                                    secret: string | null;
                                    /**
                                     * Format: date-time
                                     * @description kb waits for the app's secret, and shows it, until this time
                                     * @example 2026-11-21T09:30:00.000Z
                                     */
                                    until: string;
                                } | null;
                                /**
                                 * Format: date-time
                                 * @description null = no secret yet, so that every notification is refused
                                 * @example 2026-11-21T09:30:00.000Z
                                 */
                                secretCreatedAt: string | null;
                                /**
                                 * @description Who makes the secret. app = the app sends it to the address once, and you confirm it there
                                 * @enum {string}
                                 */
                                secretFrom: "kb" | "app";
                                /** @description What kb subscribed to at the app by itself; null = nothing, so you add the address there */
                                subscription: {
                                    /**
                                     * Format: date-time
                                     * @description kb renews it before then. null = it doesn't expire, or doesn't exist
                                     * @example 2026-11-21T09:30:00.000Z
                                     */
                                    expiresAt: string | null;
                                    problem: components["schemas"]["SourceProblem"] & (Record<string, never> | null);
                                } | null;
                                /** @description Where the app sends its notifications */
                                url: string;
                            };
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `connector_state_conflict` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/all-files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List indexed items that the caller can see */
        get: operations["listAllFiles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/browse": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Browse what a source holds before you connect it; stores nothing */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        accountId?: string;
                        /** @default {} */
                        config?: {
                            [key: string]: unknown;
                        };
                        connectionId?: string;
                        credentials?: {
                            [key: string]: string;
                        };
                        cursor?: string;
                        parent?: string | null;
                        providerId: string;
                        query?: string;
                    };
                };
            };
            responses: {
                /** @description The nodes below the parent */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            nextCursor: string | null;
                            nodes: {
                                count?: number;
                                expandable: boolean;
                                id: string;
                                kind: string;
                                parent: string | null;
                                selectable: boolean;
                                title: string;
                            }[];
                        };
                    };
                };
                /** @description Invalid request: `invalid_request`, `credential_in_url`, `two_credentials`, `provider_unknown` */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `provider_unavailable`, `connector_config_invalid`, `connector_check_failed`, `root_not_allowed`, `address_not_allowed`, `source_not_found` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                /** @description Source unavailable: `source_unavailable`, `source_unauthorized`, `source_rate_limited` */
                502: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/file-counts-by-source": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Count the items that the caller can see, by source and kind */
        get: operations["countFilesBySource"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/files/{fileId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an item's metadata */
        get: operations["getFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/files/{fileId}/access": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Explain why the caller (for admins: any member) can or can't see an item */
        get: operations["getFileAccess"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/files/{fileId}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read an item's text, a range of it, the passages around given words, or the original bytes */
        get: operations["getFileContent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/files/{fileId}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore an item that was removed in the last 7 days
         * @description For the connector's owner and admins. No one can read the item until its source says who can: a sync reads it again, as soon as the connector runs. An item that the source no longer has is removed again. An item of a push connector waits for the next push of it, and `sync` is null.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    fileId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The restored item */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            connectorId: string;
                            kbId: string;
                            sync: components["schemas"]["Sync"] & (Record<string, never> | null);
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `connector_state_conflict` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/mine": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the connectors you own */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                    providerId?: string;
                    q?: string;
                    state?: "pending_auth" | "active" | "paused" | "needs_reauth" | "needs_owner" | "error" | "deleting";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Oldest first */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            connectors: components["schemas"]["Connector"][];
                            nextCursor: string | null;
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/progress": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List running syncs, and the last sync of each of your connectors
         * @description With `Accept: text/event-stream`, the answer is a stream: an event `syncs` with this JSON at once and after every change. A stream ends after 15 minutes, and when you sign out or the token is revoked; `EventSource` opens the next one.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Running syncs first */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            syncs: components["schemas"]["Sync"][];
                        };
                        "text/event-stream": string;
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                /** @description Too many requests: `rate_limited` */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Search indexed files */
        get: operations["searchItems"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the kinds of apps you can connect */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description By name */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            sources: components["schemas"]["SourceKind"][];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/email-verification": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send yourself a link that confirms your email address */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Sent */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Sent"];
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `already_verified` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Cannot be processed: `mail_not_configured` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                /** @description Unavailable: `unavailable`, `database_unusable`, `database_damaged`, `restart_needed`, `resources_exhausted`, `mail_failed` */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/email-verification/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Confirm an emailed link: a sign-up, an address, or a new address */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        password?: string;
                        token: string;
                    };
                };
            };
            responses: {
                /** @description What the link confirmed */
                200: {
                    headers: {
                        /** @description The session: `__Host-kb` on https, `kb_session` on plain http */
                        "Set-Cookie"?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ConfirmResult"];
                    };
                };
                400: components["responses"]["InvalidRequest"];
                /** @description Not signed in: `sign_in_failed` */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Not allowed: `host_not_allowed`, `origin_not_allowed`, `password_needed`, `forbidden` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `email_taken` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Gone: `link_invalid` */
                410: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/entities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Search people, projects, labels and other entities */
        get: operations["listEntities"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/entities/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the overview of an entity */
        get: operations["getEntityContext"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/grants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the OAuth clients that you allowed in this workspace, newest first */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            grants: components["schemas"]["Grant"][];
                            nextCursor: string | null;
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/grants/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke a client's access; its tokens stop working at once */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Its tokens no longer work */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List groups, oldest first */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            groups: components["schemas"]["Group"][];
                            nextCursor: string | null;
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        /** Create a group that you own (admin) */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @default [] */
                        groupIds?: string[];
                        /** @default false */
                        isClosed?: boolean;
                        /** @default [] */
                        memberIds?: string[];
                        name: string;
                    };
                };
            };
            responses: {
                /** @description The group */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            group: components["schemas"]["Group"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                409: components["responses"]["Conflict"];
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `unknown_member`, `unknown_group`, `group_cycle` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/groups/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One group */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The group */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            group: components["schemas"]["Group"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        /** Delete a group; what it opened closes (its owner; an admin while it is open) */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Deleted */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        options?: never;
        head?: never;
        /** Update a group's name, members or owner (its owner; an admin while it is open) */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        groupIds?: string[];
                        isClosed?: boolean;
                        memberIds?: string[];
                        name?: string;
                        ownerId?: string;
                    };
                };
            };
            responses: {
                /** @description The group */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            group: components["schemas"]["Group"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `unknown_member`, `unknown_group`, `group_cycle` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        trace?: never;
    };
    "/api/invitations/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Accept an invitation */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @example anna@acme.test */
                        email?: string;
                        name?: string;
                        password?: string;
                        /**
                         * @description A name from the IANA time zone database; offsets such as +02:00 are not accepted.
                         * @example Europe/Vienna
                         */
                        timeZone?: string;
                        token: string;
                    };
                };
            };
            responses: {
                /** @description Signed in as a member */
                201: {
                    headers: {
                        /** @description The session: `__Host-kb` on https, `kb_session` on plain http */
                        "Set-Cookie"?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Session"];
                    };
                };
                400: components["responses"]["InvalidRequest"];
                /** @description Not signed in: `sign_in_failed`, `unauthenticated` */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `already_member`, `quota_reached` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Gone: `invitation_invalid` */
                410: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `password_too_weak` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/invitations/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Read an open invitation by its link: who invites whom to which workspace */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        token: string;
                    };
                };
            };
            responses: {
                /** @description The invitation is open */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InvitationOffer"];
                    };
                };
                400: components["responses"]["InvalidRequest"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                /** @description Gone: `invitation_invalid` */
                410: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/local-roots": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the server's folders that connectors can read (owner, with the operator's proof) */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description All of them */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            nextCursor: string | null;
                            roots: components["schemas"]["LocalRoot"][];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        /** Allow connectors to read a folder (owner, with the operator's proof) */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        path: string;
                    };
                };
            };
            responses: {
                /** @description The folder with its real path */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            root: components["schemas"]["LocalRoot"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                409: components["responses"]["Conflict"];
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `root_not_allowed` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/local-roots/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Stop allowing a folder (owner, with the operator's proof) */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description No longer allowed */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the MCP servers whose apps can be connected */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page, oldest first */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            nextCursor: string | null;
                            servers: components["schemas"]["ProviderServer"][];
                        };
                    };
                };
                /** @description Invalid request: `invalid_request`, `credential_in_url`, `two_credentials`, `invalid_cursor` */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        /** Add an MCP server; it is tested first */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        apps?: string[] | null;
                        auth: {
                            /** @enum {string} */
                            kind: "none";
                        } | {
                            /** @enum {string} */
                            kind: "bearer";
                            secret?: string | null;
                        } | {
                            headerName: string;
                            /** @enum {string} */
                            kind: "header";
                            secret?: string | null;
                        } | {
                            clientId?: string;
                            /** @enum {string} */
                            kind: "oauth";
                            secret?: string | null;
                        };
                        /** @enum {string} */
                        connectPolicy?: "admins" | "members";
                        enabled?: boolean;
                        force?: boolean;
                        name: string;
                        url: string;
                    };
                };
            };
            responses: {
                /** @description The server, and its test */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            server: components["schemas"]["ProviderServer"];
                            test: components["schemas"]["ServerTest"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `server_exists` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `server_check_failed`, `server_config_invalid` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Too many requests: `rate_limited` */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete an MCP server: its connections are revoked, and what was read through them is deleted */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The server as it was */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            server: components["schemas"]["ProviderServer"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        options?: never;
        head?: never;
        /** Change an MCP server; at a different scheme, host, port, or path that isn't below, its secrets are dropped */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        apps?: string[] | null;
                        auth?: {
                            /** @enum {string} */
                            kind: "none";
                        } | {
                            /** @enum {string} */
                            kind: "bearer";
                            secret?: string | null;
                        } | {
                            headerName: string;
                            /** @enum {string} */
                            kind: "header";
                            secret?: string | null;
                        } | {
                            clientId?: string;
                            /** @enum {string} */
                            kind: "oauth";
                            secret?: string | null;
                        };
                        /** @enum {string} */
                        connectPolicy?: "admins" | "members";
                        enabled?: boolean;
                        name?: string;
                        url?: string;
                    };
                };
            };
            responses: {
                /** @description The server */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            server: components["schemas"]["ProviderServer"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `server_exists`, `server_has_connections` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `server_config_invalid` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        trace?: never;
    };
    "/api/mcp-servers/{id}/apps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the apps that can be connected through an MCP server */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                    q?: string;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            apps: components["schemas"]["ServerApp"][];
                            nextCursor: string | null;
                        };
                    };
                };
                /** @description Invalid request: `invalid_request`, `credential_in_url`, `two_credentials`, `invalid_cursor` */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers/{id}/connection-tests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Test an MCP server as it is stored, or one of your connections to it */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        connectionId?: string;
                    };
                };
            };
            responses: {
                /** @description What was tried and how it went; 200 whenever the test ran */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ServerTest"];
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `server_disabled` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Too many requests: `rate_limited` */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers/{id}/connections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List your connections to an MCP server and those shared with you; admins see all of them */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page, oldest first */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            connections: components["schemas"]["Connection"][];
                            nextCursor: string | null;
                        };
                    };
                };
                /** @description Invalid request: `invalid_request`, `credential_in_url`, `two_credentials`, `invalid_cursor` */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        /** Connect an app that needs no browser */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        access?: {
                            /** @default [] */
                            groupIds?: string[];
                            /** @default [] */
                            memberIds?: string[];
                            /** @enum {string} */
                            visibility: "private" | "members" | "workspace";
                        };
                        app: string;
                        credentials?: {
                            token: string;
                        };
                        name?: string;
                    };
                };
            };
            responses: {
                /** @description The connection */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            connection: components["schemas"]["Connection"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `intent_required`, `server_disabled` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `app_unknown`, `connection_failed`, `unknown_member`, `unknown_group` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Too many requests: `rate_limited` */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers/{id}/connections/{connectionId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Disconnect: the tokens are revoked, and what was read through the connection is deleted */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    connectionId: string;
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The connection as it is now */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            connection: components["schemas"]["Connection"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers/{id}/connections/{connectionId}/access": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Set who sees what its owner reads through a connection; admins can only narrow it */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    connectionId: string;
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @default [] */
                        groupIds?: string[];
                        /** @default [] */
                        memberIds?: string[];
                        /** @enum {string} */
                        visibility: "private" | "members" | "workspace";
                    };
                };
            };
            responses: {
                /** @description The connection */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            connection: components["schemas"]["Connection"];
                            warnings?: string[];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `unknown_member`, `unknown_group` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        trace?: never;
    };
    "/api/mcp-servers/{id}/connections/{connectionId}/agreement": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Agree to the tools that kb calls with your connection; `agreement` names what you were shown */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    connectionId: string;
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        agreement: string;
                    };
                };
            };
            responses: {
                /** @description The connection */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            connection: components["schemas"]["Connection"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                /** @description Not allowed: `host_not_allowed`, `origin_not_allowed`, `forbidden`, `insufficient_scope` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `conflict` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers/{id}/connections/intents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Begin to connect an app in a browser */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        access?: {
                            /** @default [] */
                            groupIds?: string[];
                            /** @default [] */
                            memberIds?: string[];
                            /** @enum {string} */
                            visibility: "private" | "members" | "workspace";
                        };
                        app: string;
                        name?: string;
                        reconnect?: string;
                        returnTo?: string;
                    };
                };
            };
            responses: {
                /** @description What to open */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            intent: components["schemas"]["ConnectionIntent"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `intent_not_needed`, `server_disabled` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `app_unknown`, `connection_failed`, `unknown_member`, `unknown_group` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Too many requests: `rate_limited` */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers/{id}/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the health of an MCP server as of its last probe */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description As it was found */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ServerHealth"];
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers/{id}/mapping": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Map tools to what `kb` reads with them, and pin their current definitions; null removes the mapping */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        connectionId?: string;
                        mapping: {
                            fetch?: {
                                /** @default {} */
                                args?: {
                                    [key: string]: string | number | boolean;
                                };
                                argument?: string;
                                tool: string;
                            };
                            list?: {
                                /** @default {} */
                                args?: {
                                    [key: string]: string | number | boolean;
                                };
                                argument?: string;
                                tool: string;
                            };
                            search?: {
                                /** @default {} */
                                args?: {
                                    [key: string]: string | number | boolean;
                                };
                                argument?: string;
                                tool: string;
                            };
                        } | null;
                    };
                };
            };
            responses: {
                /** @description The tools with their mapping */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ServerTools"];
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `server_disabled` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `server_config_invalid`, `server_check_failed` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Too many requests: `rate_limited` */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers/{id}/mapping/previews": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Call a tool once and show what a sync would read of its result; nothing is stored */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @default {} */
                        args?: {
                            [key: string]: string | number | boolean;
                        };
                        argument?: string;
                        connectionId?: string;
                        /** @enum {string} */
                        role: "list" | "search" | "fetch";
                        tool: string;
                        value?: string;
                    };
                };
            };
            responses: {
                /** @description What was read */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["MappingPreview"];
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `server_disabled` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `server_check_failed` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Too many requests: `rate_limited` */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers/{id}/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the tools of an MCP server, and how they are mapped; asks the server */
        get: {
            parameters: {
                query?: {
                    connectionId?: string;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description As the server has them now */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ServerTools"];
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `server_disabled` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Cannot be processed: `server_check_failed` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Too many requests: `rate_limited` */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Return from a provider where an admin registered kb with the redirect URL of earlier versions */
        get: {
            parameters: {
                query?: {
                    code?: string;
                    state?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Redirect to a page of this server */
                302: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                400: components["responses"]["InvalidRequest"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers/callback/{client}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Return from a provider to the redirect URL of one server */
        get: {
            parameters: {
                query?: {
                    code?: string;
                    state?: string;
                };
                header?: never;
                path: {
                    client: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Redirect to a page of this server */
                302: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                400: components["responses"]["InvalidRequest"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers/connection-tests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Test an MCP server that isn't stored; nothing is stored */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        auth: {
                            /** @enum {string} */
                            kind: "none";
                        } | {
                            /** @enum {string} */
                            kind: "bearer";
                            secret?: string | null;
                        } | {
                            headerName: string;
                            /** @enum {string} */
                            kind: "header";
                            secret?: string | null;
                        } | {
                            clientId?: string;
                            /** @enum {string} */
                            kind: "oauth";
                            secret?: string | null;
                        };
                        url: string;
                    };
                };
            };
            responses: {
                /** @description What was tried and how it went; 200 whenever the test ran */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ServerTest"];
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `server_config_invalid` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Too many requests: `rate_limited` */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers/intents/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Confirm or reject the person found at the provider */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        id: string;
                        isAccepted: boolean;
                    };
                };
            };
            responses: {
                /** @description The connection, and where to go on */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            connection: components["schemas"]["Connection"] | null;
                            returnTo: string;
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `server_disabled` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Gone: `link_invalid` */
                410: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `connection_failed` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers/intents/found": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Get the person found at the provider, before you connect */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        id: string;
                    };
                };
            };
            responses: {
                /** @description The person found at the provider */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            found: components["schemas"]["FoundConnection"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                /** @description Gone: `link_invalid` */
                410: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers/intents/open": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Use an intent: go to the provider in this browser */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        intent: string;
                    };
                };
            };
            responses: {
                /** @description The provider's page */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            url: string;
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                /** @description Not allowed: `host_not_allowed`, `origin_not_allowed`, `forbidden` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `server_disabled` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Gone: `link_invalid` */
                410: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `connection_failed` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                /** @description Source unavailable: `source_unavailable` */
                502: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers/intents/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Get what an intent would connect */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        intent: string;
                    };
                };
            };
            responses: {
                /** @description What would be connected */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            intent: components["schemas"]["OpenedIntent"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                /** @description Not allowed: `host_not_allowed`, `origin_not_allowed`, `forbidden` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                408: components["responses"]["RequestTimeout"];
                /** @description Gone: `link_invalid` */
                410: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/oauth/{provider}/authorize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Connect an account at GitHub, Google or Slack */
        get: {
            parameters: {
                query?: {
                    returnTo?: string;
                };
                header?: never;
                path: {
                    provider: "github" | "google" | "slack";
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Redirect to the page that says what will be connected, and asks */
                302: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                400: components["responses"]["InvalidRequest"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/oauth/{provider}/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Return from GitHub, Google or Slack */
        get: {
            parameters: {
                query?: {
                    code?: string;
                    state?: string;
                };
                header?: never;
                path: {
                    provider: "github" | "google" | "slack";
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Redirect to `returnTo` with `account=connected` or `account=failed` */
                302: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                400: components["responses"]["InvalidRequest"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/oauth/{provider}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get your accounts at GitHub, Google or Slack */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    provider: "github" | "google" | "slack";
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Whether it is set up, and your accounts there; never a token */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AccountStatus"];
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/onboarding": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get whether this installation needs its first admin, and how people join */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The setup state, and how people join */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["EntryState"];
                    };
                };
                400: components["responses"]["InvalidRequest"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        /** Create the first admin with the setup code */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @example anna@acme.test */
                        email: string;
                        name: string;
                        password: string;
                        setupCode: string;
                        /**
                         * @description A name from the IANA time zone database; offsets such as +02:00 are not accepted.
                         * @example Europe/Vienna
                         */
                        timeZone?: string;
                        workspaceName: string;
                    };
                };
            };
            responses: {
                /** @description Signed in as the owner */
                201: {
                    headers: {
                        /** @description The session: `__Host-kb` on https, `kb_session` on plain http */
                        "Set-Cookie"?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Session"];
                    };
                };
                400: components["responses"]["InvalidRequest"];
                /** @description Not allowed: `host_not_allowed`, `origin_not_allowed`, `setup_code_invalid` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `onboarding_closed`, `email_taken` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `password_too_weak` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/password-reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a password reset link */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @example anna@acme.test */
                        email: string;
                    };
                };
            };
            responses: {
                /** @description Sent if the account exists */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Sent"];
                    };
                };
                400: components["responses"]["InvalidRequest"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `mail_not_configured` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/password-reset/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Check a password reset link: whether it is open, and whose account it is for */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        token: string;
                    };
                };
            };
            responses: {
                /** @description The link is open */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ResetOffer"];
                    };
                };
                400: components["responses"]["InvalidRequest"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                /** @description Gone: `link_invalid` */
                410: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/password-reset/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Set a new password with a reset link; every other credential of the account ends */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        password: string;
                        token: string;
                    };
                };
            };
            responses: {
                /** @description Signed in */
                200: {
                    headers: {
                        /** @description The session: `__Host-kb` on https, `kb_session` on plain http */
                        "Set-Cookie"?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Session"];
                    };
                };
                400: components["responses"]["InvalidRequest"];
                /** @description Not allowed: `host_not_allowed`, `origin_not_allowed`, `forbidden` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                408: components["responses"]["RequestTimeout"];
                /** @description Gone: `link_invalid` */
                410: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `password_too_weak` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/profile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Update your name or time zone */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        name?: string;
                        /**
                         * @description A name from the IANA time zone database; offsets such as +02:00 are not accepted.
                         * @example Europe/Vienna
                         */
                        timeZone?: string | null;
                    };
                };
            };
            responses: {
                /** @description The person */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            user: components["schemas"]["User"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        trace?: never;
    };
    "/api/profile/email": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Change your email address; on a server that sends email you confirm the new one first */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @example anna@acme.test */
                        email: string;
                        password: string;
                    };
                };
            };
            responses: {
                /** @description The person, and whether they must confirm the address */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            sent: boolean;
                            user: components["schemas"]["User"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                /** @description Not allowed: `host_not_allowed`, `origin_not_allowed`, `forbidden`, `password_wrong` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `email_taken` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                /** @description Unavailable: `unavailable`, `database_unusable`, `database_damaged`, `restart_needed`, `resources_exhausted`, `mail_failed` */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/profile/identities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List your identities at the single sign-on provider */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description All of them */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            identities: components["schemas"]["SsoIdentity"][];
                            nextCursor: string | null;
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/profile/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Change your password; your other sessions and the clients you allowed end */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        currentPassword: string;
                        newPassword: string;
                    };
                };
            };
            responses: {
                /** @description Changed */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                /** @description Not allowed: `host_not_allowed`, `origin_not_allowed`, `forbidden`, `password_wrong` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                408: components["responses"]["RequestTimeout"];
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `password_too_weak` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the session: who is signed in */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The person, the workspace and their rights */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Session"];
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        /** Sign in with email and password */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @example anna@acme.test */
                        email: string;
                        password: string;
                        /**
                         * @description A name from the IANA time zone database; offsets such as +02:00 are not accepted.
                         * @example Europe/Vienna
                         */
                        timeZone?: string;
                    };
                };
            };
            responses: {
                /** @description Signed in; the cookie is set */
                200: {
                    headers: {
                        /** @description The session: `__Host-kb` on https, `kb_session` on plain http */
                        "Set-Cookie"?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Session"];
                    };
                };
                400: components["responses"]["InvalidRequest"];
                /** @description Not signed in: `sign_in_failed` */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Not allowed: `host_not_allowed`, `origin_not_allowed`, `forbidden` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                408: components["responses"]["RequestTimeout"];
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        /** Sign out */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Signed out; the session no longer works */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session/workspace": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Switch to another of your workspaces; the session gets a new secret */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        workspaceId: string;
                    };
                };
            };
            responses: {
                /** @description Switched; the cookie is set */
                200: {
                    headers: {
                        /** @description The session: `__Host-kb` on https, `kb_session` on plain http */
                        "Set-Cookie"?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Session"];
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                /** @description Not found: `not_found` */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                408: components["responses"]["RequestTimeout"];
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List your sessions */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Active sessions, newest first */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            nextCursor: string | null;
                            sessions: components["schemas"]["SessionRecord"][];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** End one of your sessions */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description That session no longer works */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sign-up": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sign up for an account and a workspace of your own, where sign-up is open */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @example anna@acme.test */
                        email: string;
                        name: string;
                        password: string;
                        /**
                         * @description A name from the IANA time zone database; offsets such as +02:00 are not accepted.
                         * @example Europe/Vienna
                         */
                        timeZone?: string;
                        workspaceName: string;
                    };
                };
            };
            responses: {
                /** @description An email was sent that finishes the sign-up, or says that the account exists */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Sent"];
                    };
                };
                400: components["responses"]["InvalidRequest"];
                /** @description Not allowed: `host_not_allowed`, `origin_not_allowed`, `sign_up_closed` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `onboarding_needed`, `email_taken` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `password_too_weak` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                /** @description Unavailable: `unavailable`, `database_unusable`, `database_damaged`, `restart_needed`, `resources_exhausted`, `mail_failed` */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sso/authorize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Go to the identity provider */
        get: {
            parameters: {
                query?: {
                    returnTo?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Redirect to the provider */
                302: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                400: components["responses"]["InvalidRequest"];
                403: components["responses"]["NotAllowed"];
                /** @description Not found: `sso_not_configured` */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                /** @description Source unavailable: `source_unavailable` */
                502: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sso/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Return from the identity provider */
        get: {
            parameters: {
                query?: {
                    code?: string;
                    state?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Signed in, or redirected with a reason */
                302: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                400: components["responses"]["InvalidRequest"];
                403: components["responses"]["NotAllowed"];
                /** @description Not found: `sso_not_configured` */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sso/link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Link your account to the identity provider; returns the address to open */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        password?: string;
                    };
                };
            };
            responses: {
                /** @description The address to open */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            url: string;
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                /** @description Not allowed: `host_not_allowed`, `origin_not_allowed`, `forbidden`, `recent_sign_in_required`, `password_wrong` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Not found: `sso_not_configured` */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                408: components["responses"]["RequestTimeout"];
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                /** @description Source unavailable: `source_unavailable` */
                502: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List where events are sent (admin) */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description At most 20, the oldest first */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            targets: components["schemas"]["EventTarget"][];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        /** Add an event target; its secret is shown only once (admin) */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /**
                         * @example [
                         *       "sync.failed",
                         *       "connector.needs_reauth"
                         *     ]
                         */
                        types?: components["schemas"]["EventType"][];
                        /**
                         * Format: uri
                         * @example https://hooks.acme.example/kb
                         */
                        url: string;
                    };
                };
            };
            responses: {
                /** @description The target and its secret */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @example whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD */
                            secret: string;
                            target: components["schemas"]["EventTarget"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `idempotency_key_reused`, `already_created`, `quota_reached` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `address_not_allowed` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                /** @description Source unavailable: `source_unavailable` */
                502: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an event target (admin) */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The target */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            target: components["schemas"]["EventTarget"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        /** Delete an event target with its deliveries (admin) */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Deleted */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        options?: never;
        head?: never;
        /** Change the URL or the types of an event target, or pause or resume it (admin) */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @enum {string} */
                        state?: "active" | "paused";
                        /**
                         * @example [
                         *       "sync.failed",
                         *       "connector.needs_reauth"
                         *     ]
                         */
                        types?: components["schemas"]["EventType"][];
                        /**
                         * Format: uri
                         * @example https://hooks.acme.example/kb
                         */
                        url?: string;
                    };
                };
            };
            responses: {
                /** @description The target */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            target: components["schemas"]["EventTarget"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                /** @description Cannot be processed: `address_not_allowed` */
                422: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                /** @description Source unavailable: `source_unavailable` */
                502: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        trace?: never;
    };
    "/api/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the deliveries of an event target, newest first (admin) */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                    state?: "waiting" | "delivered" | "failed";
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            deliveries: components["schemas"]["EventDelivery"][];
                            nextCursor: string | null;
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks/{id}/deliveries/{deliveryId}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send the event of a delivery again, with the same event ID (admin) */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    deliveryId: string;
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The new delivery */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            delivery: components["schemas"]["EventDelivery"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                409: components["responses"]["Conflict"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send the events of a time span again, with the same event IDs (admin) */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /**
                         * Format: date-time
                         * @example 2026-11-21T09:30:00.000Z
                         */
                        since: string;
                        /**
                         * @default all
                         * @enum {string}
                         */
                        state?: "all" | "failed";
                        /**
                         * Format: date-time
                         * @example 2026-11-21T09:30:00.000Z
                         */
                        until?: string;
                    };
                };
            };
            responses: {
                /** @description How many are sent again */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            replayed: number;
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `idempotency_key_reused`, `already_created`, `quota_reached` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Replace the secret of an event target; the new one is shown only once (admin) */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /**
                         * @default 86400
                         * @example 86400
                         */
                        overlapSeconds?: number;
                    };
                };
            };
            responses: {
                /** @description The target and its new secret */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @example whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD */
                            secret: string;
                            target: components["schemas"]["EventTarget"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                409: components["responses"]["Conflict"];
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                /** @description Unavailable: `unavailable`, `database_unusable`, `database_damaged`, `restart_needed`, `resources_exhausted`, `secret_unreadable` */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a ping to an event target now, once (admin) */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The delivery, whether it was accepted or not */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            delivery: components["schemas"]["EventDelivery"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workspace": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the current workspace */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The workspace */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            workspace: components["schemas"]["WorkspaceSettings"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Update the workspace's name, time zone, handling of secrets in texts or registered instances (admin), or its identity domains (owner) */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        identityDomains?: string[];
                        instances?: {
                            /** @example https://git.acme.test */
                            baseUrl: string;
                            providerId: string;
                        }[];
                        maxAclAgeHours?: number;
                        name?: string;
                        /** @enum {string} */
                        secrets?: "mask" | "index";
                        /**
                         * @description A name from the IANA time zone database; offsets such as +02:00 are not accepted.
                         * @example Europe/Vienna
                         */
                        timeZone?: string;
                    };
                };
            };
            responses: {
                /** @description The workspace */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            workspace: components["schemas"]["WorkspaceSettings"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        trace?: never;
    };
    "/api/workspace/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List invitations that were not withdrawn, newest first (admin) */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            invitations: components["schemas"]["Invitation"][];
                            nextCursor: string | null;
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        /** Invite someone; the link is emailed if the server sends email, otherwise it is shown only once (admin; only an owner invites admins) */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @example anna@acme.test */
                        email: string;
                        /** @enum {string} */
                        role: "admin" | "member";
                    };
                };
            };
            responses: {
                /** @description The invitation, and its link unless it was emailed */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            invitation: components["schemas"]["Invitation"];
                            url: string | null;
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                /** @description Not allowed: `host_not_allowed`, `origin_not_allowed`, `forbidden`, `insufficient_scope`, `role_too_low` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `idempotency_key_reused`, `already_created`, `already_member`, `quota_reached` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                /** @description Unavailable: `unavailable`, `database_unusable`, `database_damaged`, `restart_needed`, `resources_exhausted`, `mail_failed` */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workspace/invitations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Withdraw an invitation (admin) */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Withdrawn; the link no longer works */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                /** @description Not allowed: `host_not_allowed`, `origin_not_allowed`, `forbidden`, `insufficient_scope`, `role_too_low` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workspace/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List members in the order they joined */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            members: components["schemas"]["Member"][];
                            nextCursor: string | null;
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workspace/members/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One member */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The member */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            member: components["schemas"]["Member"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        /** Remove a member (admin), or leave; all of that member's credentials end */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Removed */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                /** @description Not allowed: `host_not_allowed`, `origin_not_allowed`, `forbidden`, `insufficient_scope`, `role_too_low` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `last_owner` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        options?: never;
        head?: never;
        /** Change a member's role (owner) */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        role: components["schemas"]["Role"];
                    };
                };
            };
            responses: {
                /** @description The member */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            member: components["schemas"]["Member"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                /** @description Not allowed: `host_not_allowed`, `origin_not_allowed`, `forbidden`, `insufficient_scope`, `role_too_low` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `last_owner` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        trace?: never;
    };
    "/api/workspace/members/{id}/password-reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create a password reset link for a member (admin for members, owner for admins) */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The link, unless it was emailed */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /**
                             * Format: date-time
                             * @example 2026-11-21T09:30:00.000Z
                             */
                            expiresAt: string;
                            url: string | null;
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                /** @description Not allowed: `host_not_allowed`, `origin_not_allowed`, `forbidden`, `insufficient_scope`, `role_too_low` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                409: components["responses"]["Conflict"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                /** @description Unavailable: `unavailable`, `database_unusable`, `database_damaged`, `restart_needed`, `resources_exhausted`, `mail_failed` */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workspaces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List your workspaces */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description In the order you joined them */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            nextCursor: string | null;
                            workspaces: components["schemas"]["MyWorkspace"][];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        /** Create a workspace; you become its owner */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        name: string;
                        /**
                         * @description A name from the IANA time zone database; offsets such as +02:00 are not accepted.
                         * @example Europe/Vienna
                         */
                        timeZone?: string;
                    };
                };
            };
            responses: {
                /** @description The workspace */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            workspace: components["schemas"]["Workspace"];
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                /** @description Conflict: `idempotency_key_reused`, `already_created`, `workspace_limit_reached` */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Check that the process is alive */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description It is */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Status"];
                    };
                };
                400: components["responses"]["InvalidRequest"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/hooks/{providerId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Receive an app's notification for all connectors of one installation; a wrong signature returns 404 */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    providerId: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "*/*": string;
                };
            };
            responses: {
                /** @description Accepted; if the app sent a challenge, the answer to it */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "*/*": string;
                    };
                };
                400: components["responses"]["InvalidRequest"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/hooks/{providerId}/{connectorId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Receive an app's notification for one connector; a wrong signature returns 404 */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    connectorId: string;
                    providerId: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "*/*": string;
                };
            };
            responses: {
                /** @description Accepted; if the app sent a challenge, the answer to it */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "*/*": string;
                    };
                };
                400: components["responses"]["InvalidRequest"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The MCP endpoint (Streamable HTTP, stateless): tools/list and tools/call */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["RpcRequest"] | components["schemas"]["RpcRequest"][];
                };
            };
            responses: {
                /** @description The answer; of a call with a progress token, events that end with it */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RpcAnswer"] | components["schemas"]["RpcAnswer"][];
                        "text/event-stream": string;
                    };
                };
                /** @description Notifications only: nothing to answer */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description Invalid request: `invalid_request`, `credential_in_url`, `two_credentials` */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RpcAnswer"];
                    };
                };
                /** @description Not signed in: `unauthenticated` */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RpcAnswer"];
                    };
                };
                /** @description Not allowed: `host_not_allowed`, `origin_not_allowed`, `forbidden`, `insufficient_scope` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RpcAnswer"];
                    };
                };
                /** @description Not found: `not_found` */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RpcAnswer"];
                    };
                };
                /** @description Request timeout: `request_timeout` */
                408: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RpcAnswer"];
                    };
                };
                /** @description Too large: `payload_too_large` */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RpcAnswer"];
                    };
                };
                /** @description Unsupported media type: `unsupported_media_type` */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RpcAnswer"];
                    };
                };
                /** @description Too many requests: `rate_limited` */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RpcAnswer"];
                    };
                };
                /** @description Headers too large: `headers_too_large` */
                431: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RpcAnswer"];
                    };
                };
                /** @description Internal error: `internal` */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RpcAnswer"];
                    };
                };
                /** @description Unavailable: `unavailable`, `database_unusable`, `database_damaged`, `restart_needed`, `resources_exhausted` */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RpcAnswer"];
                    };
                };
                /** @description Insufficient storage: `storage_full` */
                507: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RpcAnswer"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/authorize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Ask a person to allow a client (RFC 6749, PKCE) */
        get: {
            parameters: {
                query: {
                    client_id: string;
                    code_challenge: string;
                    code_challenge_method: "S256";
                    redirect_uri: string;
                    resource?: string;
                    response_type: "code";
                    scope?: string;
                    state?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Redirect to the page that asks */
                302: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description Redirect back to the client with an error */
                303: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description Invalid request: `invalid_request`, `credential_in_url`, `two_credentials` */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                        "text/html": string;
                    };
                };
                /** @description Not allowed: `host_not_allowed` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                        "text/html": string;
                    };
                };
                /** @description Request timeout: `request_timeout` */
                408: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                        "text/html": string;
                    };
                };
                /** @description Too many requests: `rate_limited` */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                        "text/html": string;
                    };
                };
                /** @description Headers too large: `headers_too_large` */
                431: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                        "text/html": string;
                    };
                };
                /** @description Internal error: `internal` */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                        "text/html": string;
                    };
                };
                /** @description Unavailable: `unavailable`, `database_unusable`, `database_damaged`, `restart_needed`, `resources_exhausted` */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                        "text/html": string;
                    };
                };
            };
        };
        put?: never;
        /** Submit a decision; without one, the same as GET */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                    "application/x-www-form-urlencoded": {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                /** @description Where to go next (JSON) */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            redirectTo: string;
                        };
                    };
                };
                /** @description Redirect back to the client, or on to GET */
                303: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description Invalid request: `invalid_request`, `credential_in_url`, `two_credentials` */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                        "text/html": string;
                    };
                };
                /** @description Not signed in: `unauthenticated` */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                        "text/html": string;
                    };
                };
                /** @description Not allowed: `host_not_allowed`, `origin_not_allowed`, `password_needed` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                        "text/html": string;
                    };
                };
                /** @description Request timeout: `request_timeout` */
                408: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                        "text/html": string;
                    };
                };
                /** @description Gone: `consent_invalid` */
                410: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                        "text/html": string;
                    };
                };
                /** @description Too large: `payload_too_large` */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                        "text/html": string;
                    };
                };
                /** @description Unsupported media type: `unsupported_media_type` */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                        "text/html": string;
                    };
                };
                /** @description Too many requests: `rate_limited` */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                        "text/html": string;
                    };
                };
                /** @description Headers too large: `headers_too_large` */
                431: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                        "text/html": string;
                    };
                };
                /** @description Internal error: `internal` */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                        "text/html": string;
                    };
                };
                /** @description Unavailable: `unavailable`, `database_unusable`, `database_damaged`, `restart_needed`, `resources_exhausted` */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                        "text/html": string;
                    };
                };
                /** @description Insufficient storage: `storage_full` */
                507: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                        "text/html": string;
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/authorize/{uid}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Continue after the decision */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    uid: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Redirect back to the client */
                303: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description Invalid request: `invalid_request`, `credential_in_url` */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                        "text/html": string;
                    };
                };
                /** @description Not allowed: `host_not_allowed` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                        "text/html": string;
                    };
                };
                /** @description Not found: `not_found` */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                        "text/html": string;
                    };
                };
                /** @description Request timeout: `request_timeout` */
                408: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                        "text/html": string;
                    };
                };
                /** @description Too many requests: `rate_limited` */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                        "text/html": string;
                    };
                };
                /** @description Headers too large: `headers_too_large` */
                431: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                        "text/html": string;
                    };
                };
                /** @description Internal error: `internal` */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                        "text/html": string;
                    };
                };
                /** @description Unavailable: `unavailable`, `database_unusable`, `database_damaged`, `restart_needed`, `resources_exhausted` */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                        "text/html": string;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/clients/mcp.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get this server's client metadata document, for authorization servers */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Client metadata (RFC 7591) */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/consent/{uid}/decision": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Allow or deny a client */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    uid: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        csrf: string;
                        /** @enum {string} */
                        decision: "allow" | "deny";
                        password?: string;
                        workspaceId?: string;
                    };
                };
            };
            responses: {
                /** @description Where the browser goes next */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            redirectTo: string;
                        };
                    };
                };
                400: components["responses"]["InvalidRequest"];
                /** @description Not signed in: `unauthenticated`, `sign_in_failed` */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Not allowed: `host_not_allowed`, `origin_not_allowed`, `forbidden`, `password_needed`, `role_too_low` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Gone: `consent_invalid` */
                410: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/consent/{uid}/request": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read what a client asks for */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    uid: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The request to decide on */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ConsentRequest"];
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                404: components["responses"]["NotFound"];
                408: components["responses"]["RequestTimeout"];
                /** @description Gone: `consent_invalid` */
                410: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/device_authorization": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Start the sign-in of a device without a browser (RFC 8628) */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/x-www-form-urlencoded": {
                        client_id: string;
                        scope?: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                /** @description The codes */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            device_code: string;
                            user_code: string;
                            verification_uri: string;
                        } & {
                            [key: string]: unknown;
                        };
                    };
                };
                /** @description Invalid request: `invalid_request`, `credential_in_url` */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Not signed in: `unauthenticated` */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Not allowed: `host_not_allowed`, `origin_not_allowed` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Request timeout: `request_timeout` */
                408: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Too large: `payload_too_large` */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Unsupported media type: `unsupported_media_type` */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Too many requests: `rate_limited` */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Headers too large: `headers_too_large` */
                431: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Internal error: `internal` */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Unavailable: `unavailable`, `database_unusable`, `database_damaged`, `restart_needed`, `resources_exhausted` */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Insufficient storage: `storage_full` */
                507: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/device/decision": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Allow or deny a device */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        csrf: string;
                        /** @enum {string} */
                        decision: "allow" | "deny";
                        password?: string;
                        userCode: string;
                        workspaceId?: string;
                    };
                };
            };
            responses: {
                /** @description Decided */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                400: components["responses"]["InvalidRequest"];
                /** @description Not signed in: `unauthenticated`, `sign_in_failed` */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Not allowed: `host_not_allowed`, `origin_not_allowed`, `forbidden`, `password_needed`, `role_too_low` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                408: components["responses"]["RequestTimeout"];
                /** @description Gone: `consent_invalid` */
                410: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/device/request": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Read what the device with this code asks for */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        userCode: string;
                    };
                };
            };
            responses: {
                /** @description The request to decide on */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ConsentRequest"];
                    };
                };
                400: components["responses"]["InvalidRequest"];
                401: components["responses"]["NotSignedIn"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                /** @description Gone: `consent_invalid` */
                410: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                413: components["responses"]["TooLarge"];
                415: components["responses"]["UnsupportedMediaType"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
                507: components["responses"]["InsufficientStorage"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/jwks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Keys of the authorization server (RFC 7517) */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The keys */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/jwk-set+json": {
                            keys: {
                                [key: string]: unknown;
                            }[];
                        } & {
                            [key: string]: unknown;
                        };
                    };
                };
                /** @description Invalid request: `invalid_request`, `credential_in_url` */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Not allowed: `host_not_allowed` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Request timeout: `request_timeout` */
                408: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Too many requests: `rate_limited` */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Headers too large: `headers_too_large` */
                431: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Internal error: `internal` */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Unavailable: `unavailable`, `database_unusable`, `database_damaged`, `restart_needed`, `resources_exhausted` */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/register": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Register a client (RFC 7591) */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        client_name?: string;
                        redirect_uris: string[];
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                /** @description The client */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            client_id: string;
                        } & {
                            [key: string]: unknown;
                        };
                    };
                };
                /** @description Invalid request: `invalid_request`, `credential_in_url` */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Not allowed: `host_not_allowed`, `origin_not_allowed` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Request timeout: `request_timeout` */
                408: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Too large: `payload_too_large` */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Unsupported media type: `unsupported_media_type` */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Too many requests: `rate_limited` */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Headers too large: `headers_too_large` */
                431: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Internal error: `internal` */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Unavailable: `unavailable`, `database_unusable`, `database_damaged`, `restart_needed`, `resources_exhausted` */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Insufficient storage: `storage_full` */
                507: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Revoke a token (RFC 7009); an unknown token is not an error */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/x-www-form-urlencoded": {
                        client_id: string;
                        token: string;
                        token_type_hint?: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                /** @description The token no longer works */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description Invalid request: `invalid_request`, `credential_in_url` */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Not signed in: `unauthenticated` */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Not allowed: `host_not_allowed`, `origin_not_allowed` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Request timeout: `request_timeout` */
                408: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Too large: `payload_too_large` */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Unsupported media type: `unsupported_media_type` */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Too many requests: `rate_limited` */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Headers too large: `headers_too_large` */
                431: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Internal error: `internal` */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Unavailable: `unavailable`, `database_unusable`, `database_damaged`, `restart_needed`, `resources_exhausted` */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Insufficient storage: `storage_full` */
                507: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Exchange a code, refresh, or poll for a device (RFC 6749, RFC 8628) */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/x-www-form-urlencoded": {
                        client_id: string;
                        code?: string;
                        code_verifier?: string;
                        device_code?: string;
                        /** @enum {string} */
                        grant_type: "authorization_code" | "refresh_token" | "urn:ietf:params:oauth:grant-type:device_code";
                        redirect_uri?: string;
                        refresh_token?: string;
                        resource?: string;
                        scope?: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                /** @description The tokens */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            access_token: string;
                            expires_in: number;
                            token_type: string;
                        } & {
                            [key: string]: unknown;
                        };
                    };
                };
                /** @description Invalid request: `invalid_request`, `credential_in_url` */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Not signed in: `unauthenticated` */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Not allowed: `host_not_allowed`, `origin_not_allowed` */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Request timeout: `request_timeout` */
                408: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Too large: `payload_too_large` */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Unsupported media type: `unsupported_media_type` */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Too many requests: `rate_limited` */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Headers too large: `headers_too_large` */
                431: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Internal error: `internal` */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Unavailable: `unavailable`, `database_unusable`, `database_damaged`, `restart_needed`, `resources_exhausted` */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description Insufficient storage: `storage_full` */
                507: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OAuthError"];
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Check that the server can answer requests; 503 while it starts or shuts down, while its disk is full, or when it can't use its database */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description It can */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Status"];
                    };
                };
                400: components["responses"]["InvalidRequest"];
                403: components["responses"]["NotAllowed"];
                408: components["responses"]["RequestTimeout"];
                429: components["responses"]["TooManyRequests"];
                431: components["responses"]["HeadersTooLarge"];
                500: components["responses"]["InternalError"];
                503: components["responses"]["Unavailable"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Account: {
            baseUrl: string;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            confirmedAt: string;
            connectors: {
                id: string;
                name: string;
            }[];
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            expiresAt: string | null;
            id: string;
            isLinked: boolean;
            label: string;
            login: string | null;
            principal: string;
            /** @example gitea */
            providerId: string;
            providerName: string;
            scopes: string[];
            /** @enum {string} */
            state: "active" | "needs_reauth";
            stateReason: string | null;
            /** @enum {string} */
            way: "oauth" | "token";
        };
        AccountNotice: {
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            at: string;
            by: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "reset_link_made" | "password_set";
        };
        AccountProvider: {
            baseUrl: string | null;
            configured: boolean;
            name: string;
            ownTokens: {
                instances: {
                    baseUrl: string;
                    url: string | null;
                }[];
                steps: string;
            } | null;
            /** @example gitea */
            providerId: string;
            scopes: string[];
            setUp: {
                env: string[];
                redirectUrl: string;
                steps: string;
                url: string | null;
            } | null;
        };
        AccountStatus: {
            accounts: {
                /**
                 * Format: date-time
                 * @example 2026-11-21T09:30:00.000Z
                 */
                expiresAt: string | null;
                id: string;
                label: string;
                scopes: string[];
                /** @enum {string} */
                state: "active" | "needs_reauth";
            }[];
            configured: boolean;
            connected: boolean;
            /** @example gitea */
            provider: string;
            redirectUrl: string | null;
        };
        AuditCheck: {
            brokenAt: number | null;
            entries: number;
            firstSeq: number | null;
            isIntact: boolean;
            lastHash: string | null;
            lastSeq: number | null;
        };
        AuditEntry: {
            /** @example connector.created */
            action: string;
            actorUserId: string | null;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            at: string;
            credential: string;
            details: {
                [key: string]: unknown;
            };
            ip: string | null;
            /** @enum {string} */
            outcome: "done" | "refused";
            requestId: string | null;
            seq: number;
            targetId: string;
            targetType: string;
        };
        AuditPage: {
            entries: components["schemas"]["AuditEntry"][];
            names: {
                [key: string]: string;
            };
            nextCursor: string | null;
        };
        AuditRead: {
            answers: number;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            at: string;
            client: string | null;
            credential: string;
            kbIds: string[];
            repeats: number;
            tool: string;
            userId: string;
        };
        ConfirmResult: {
            /** @enum {string} */
            purpose: "sign_up" | "verification" | "email_change";
            session: components["schemas"]["Session"] | null;
        };
        Connection: {
            access: {
                groupIds: string[];
                memberIds: string[];
                /** @enum {string} */
                visibility: "private" | "members" | "workspace";
            };
            account: {
                id: string;
                label: string;
            } | null;
            agreement: string | null;
            app: string;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            createdAt: string;
            elicitation: {
                host: string;
            } | null;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            expiresAt: string | null;
            id: string;
            isMine: boolean;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            lastCheckedAt: string | null;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            lastUsedAt: string | null;
            name: string;
            owner: {
                id: string;
                name: string;
            };
            scopes: string[];
            serverId: string;
            /** @enum {string} */
            status: "pending" | "active" | "needs_agreement" | "needs_reauth" | "failed" | "expired" | "disabled" | "revoked";
            statusReason: string | null;
            tools: components["schemas"]["ConnectionTool"][];
        };
        ConnectionIntent: {
            connectionId: string;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            expiresAt: string;
            id: string;
            redirectUrl: string;
            /** @enum {string} */
            status: "pending";
        };
        ConnectionTool: {
            args: {
                [key: string]: unknown;
            };
            argument?: string;
            isAgreed: boolean;
            isReadOnly: boolean | null;
            /** @enum {string} */
            role: "list" | "search" | "fetch";
            tool: string;
        };
        Connector: {
            access: {
                groupIds: string[];
                memberIds: string[];
                /** @enum {string} */
                visibility: "private" | "members" | "workspace" | "source";
            };
            accountId: string | null;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            aclCheckedAt: string | null;
            aclStale: {
                /** @enum {string} */
                cause: "refused" | "not_checked" | "clock_went_back";
                /**
                 * Format: date-time
                 * @example 2026-11-21T09:30:00.000Z
                 */
                nextTryAt: string | null;
                /**
                 * Format: date-time
                 * @example 2026-11-21T09:30:00.000Z
                 */
                since: string;
            } | null;
            activity: components["schemas"]["ConnectorActivity"];
            allowed: ("rename" | "schedule" | "sync" | "pause" | "resume" | "delete" | "narrow_access" | "widen_access" | "narrow_scope" | "widen_scope" | "configure" | "reconnect" | "browse" | "decide_removals" | "restore" | "webhook" | "link_people" | "rotate_key" | "end_keys" | "take_over")[];
            config: {
                [key: string]: unknown;
            };
            connectionId: string | null;
            counts: {
                aclStale: number;
                awaitingPush: number;
                failed: number;
                held: number;
                indexed: number;
                maskedSecrets: number;
                parentMissing: number;
                pending: number;
                toReadAgain: number;
                unsearchable: number;
            };
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            createdAt: string;
            freshness?: {
                /**
                 * Format: date-time
                 * @example 2026-11-21T09:30:00.000Z
                 */
                oldestGroupAt: string | null;
                requests: number | null;
            };
            hasKey: boolean;
            id: string;
            isPushed: boolean;
            keyPrefix: string | null;
            lastSync: {
                /**
                 * Format: date-time
                 * @example 2026-11-21T09:30:00.000Z
                 */
                finishedAt: string | null;
                id: string;
                /** @enum {string} */
                state: "queued" | "running" | "waiting" | "cancelling" | "succeeded" | "partial" | "failed" | "cancelled";
            } | null;
            name: string;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            nextRunAt: string | null;
            notWatched?: {
                /**
                 * Format: date-time
                 * @example 2026-11-21T09:30:00.000Z
                 */
                nextTryAt: string;
                problem: components["schemas"]["SourceProblem"];
                /**
                 * Format: date-time
                 * @example 2026-11-21T09:30:00.000Z
                 */
                since: string;
            };
            openedByOthers?: components["schemas"]["Opening"][];
            owner: {
                id: string;
                name: string;
            };
            providerId: string;
            readByNobody?: {
                linked: number;
                users: number;
            };
            schedule: {
                everyMinutes: number;
            } | null;
            scope: {
                exclude: string[];
                include: string[];
                titles?: {
                    [key: string]: string;
                };
            };
            /** @enum {string} */
            state: "pending_auth" | "active" | "paused" | "needs_reauth" | "needs_owner" | "error" | "deleting";
            stateReason: string | null;
        };
        ConnectorActivity: {
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            nextRunAt: string | null;
            /** @enum {string} */
            type: "idle";
        } | {
            before: number;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            since: string;
            /** @enum {string} */
            type: "queued";
        } | {
            done: number;
            /** @enum {string} */
            mode: "full" | "incremental" | "access" | "identities" | "items";
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            since: string;
            total: number | null;
            /** @enum {string} */
            type: "syncing";
        } | {
            reason: components["schemas"]["SourceProblem"] | null;
            /** @enum {string} */
            type: "waiting";
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            until: string;
        } | {
            failures: number;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            nextTryAt: string | null;
            reason: components["schemas"]["SourceProblem"] | null;
            /** @enum {string} */
            type: "failing";
        } | {
            /** @enum {string} */
            type: "stopped";
        };
        ConnectorPublic: {
            id: string;
            name: string;
            providerId: string;
            /** @enum {string} */
            state: "pending_auth" | "active" | "paused" | "needs_reauth" | "needs_owner" | "error" | "deleting";
        };
        ConsentRequest: {
            askedFrom: string | null;
            client: {
                /**
                 * Format: date-time
                 * @example 2026-11-21T09:30:00.000Z
                 */
                documentReadAt: string | null;
                host: string | null;
                id: string;
                isLocal: boolean;
                isOurs: boolean;
                name: string;
                uri: string | null;
            };
            csrf: string;
            currentWorkspaceId: string;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            expiresAt: string;
            needsPassword: boolean;
            scopes: components["schemas"]["Scope"][];
            workspaces: {
                id: string;
                name: string;
                role: components["schemas"]["Role"];
            }[];
        };
        ContextItem: {
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            dueAt: string | null;
            kbId: string;
            kind: components["schemas"]["ItemKind"];
            /** @enum {string|null} */
            status: "open" | "done" | null;
            title: string;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            updatedAt: string | null;
            url: string | null;
        };
        Entity: {
            aliases: string[];
            claimed: boolean;
            email: string | null;
            entityId: string;
            itemCount: number;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            lastSeenAt: string | null;
            login: string | null;
            name: string;
            providers: string[];
            /** @enum {string} */
            type: "person" | "project" | "repository" | "channel" | "label" | "team" | "space" | "folder";
        };
        EntityContext: {
            counts: {
                byKind: {
                    [key: string]: number;
                };
                items: number;
                openTasks: number;
                recent: number;
            };
            entity: components["schemas"]["Entity"];
            newest: components["schemas"]["ContextItem"][];
            notes: string[];
            openTasks: components["schemas"]["ContextItem"][];
            relations: components["schemas"]["EntityRelation"][];
        };
        EntityRelation: {
            claimed: boolean;
            entityId: string;
            itemCount: number;
            kbId: string;
            name: string;
            role: string;
            /** @enum {string} */
            type: "person" | "project" | "repository" | "channel" | "label" | "team" | "space" | "folder";
        };
        EntryState: {
            canMail: boolean;
            /** @enum {string} */
            mode: "self-hosted" | "managed";
            needed: boolean;
            /** @enum {string} */
            signup: "invite" | "open" | "closed";
            sso: string | null;
        };
        EventDelivery: {
            /** @enum {string|null} */
            code: "address_not_allowed" | "unreachable" | "timeout" | "redirected" | "refused" | "gone" | "rate_limited" | "server_error" | "secret_unreadable" | null;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            createdAt: string;
            data: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            endedAt: string | null;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            eventAt: string;
            eventId: string;
            id: string;
            isReplay: boolean;
            /** @enum {string} */
            state: "waiting" | "delivered" | "failed";
            status: number | null;
            targetId: string;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            triedAt: string | null;
            tries: number;
            /** @enum {string} */
            type: "sync.finished" | "sync.failed" | "connector.needs_reauth" | "connector.acl_stale" | "removal.held" | "connection.active" | "connection.needs_reauth" | "connection.revoked" | "connection.failed" | "ping";
        };
        EventTarget: {
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            createdAt: string;
            createdBy: {
                id: string;
                name: string;
            } | null;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            failingSince: string | null;
            id: string;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            lastDeliveredAt: string | null;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            nextTryAt: string | null;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            pausedAt: string | null;
            /** @enum {string|null} */
            pausedFor: "admin" | "gone" | "failing" | null;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            secretOverlapEndsAt: string | null;
            /** @enum {string} */
            state: "active" | "paused";
            types: components["schemas"]["EventType"][];
            /** @example https://hooks.acme.example/kb */
            url: string;
            waiting: number;
        };
        EventTargetNotice: {
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            at: string;
            by: null;
            host: string;
            /** @enum {string} */
            reason: "gone" | "failing";
            targetId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "event_target_paused";
        };
        /** @enum {string} */
        EventType: "sync.finished" | "sync.failed" | "connector.needs_reauth" | "connector.acl_stale" | "removal.held" | "connection.active" | "connection.needs_reauth" | "connection.revoked" | "connection.failed";
        Explanation: {
            factors: {
                factor: string;
                score: number;
            }[];
            /** @enum {string} */
            group: "address" | "all" | "some";
            length: number | null;
            score: number | null;
            words: {
                frequency: {
                    place: number;
                    text: number;
                    title: number;
                };
                items: number;
                score: number;
                term: string;
                weight: number;
                word: string;
            }[];
        };
        FieldValue: string | number | boolean | string[];
        File: {
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            aclCheckedAt: string | null;
            assignees: components["schemas"]["ItemPerson"][];
            author: components["schemas"]["ItemPerson"] | null;
            connectorId: string;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            createdAt: string | null;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            dueAt: string | null;
            externalId: string;
            fields: {
                [key: string]: components["schemas"]["FieldValue"];
            };
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            indexedAt: string;
            indexState: components["schemas"]["IndexState"];
            kbId: string;
            key: string | null;
            kind: components["schemas"]["ItemKind"];
            labels: string[];
            mimeType: string | null;
            path: string[];
            priority: string | null;
            providerId: string;
            size: number | null;
            source: string;
            /** @enum {string|null} */
            status: "open" | "done" | null;
            textState: {
                /**
                 * Format: date-time
                 * @example 2026-11-21T09:30:00.000Z
                 */
                asOf: string | null;
                chars: number;
                message: string | null;
                /** @enum {string|null} */
                reason: "unsupported_type" | "too_large" | "empty" | "encrypted" | "excluded_by_scope" | "excluded_by_policy" | "generated" | "acl_unknown" | "over_quota" | "failed" | null;
                /** @enum {string} */
                state: "ok" | "none";
            };
            title: string;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            updatedAt: string | null;
            url: string | null;
        };
        FileAccess: {
            connectorId: string;
            isAllowed: boolean;
            kbId: string;
            lists: {
                chain: string[] | null;
                isMet: boolean;
                /** @enum {string} */
                origin: "connector" | "connection" | "source";
                principals: string[] | null;
                size: number;
            }[];
            /** @description The current names of the people, groups and connectors in the lists, by ID. */
            names: {
                [key: string]: string;
            };
            /** @enum {string} */
            reason: "allowed" | "not_a_member" | "removed" | "access_unknown" | "connector_deleting" | "permissions_too_old" | "list_unmet";
            title: string | null;
            userId: string;
        };
        FileCounts: {
            counts: {
                indexed: number;
                kind: components["schemas"]["ItemKind"];
                providerId: string;
                source: string;
                unsearchable: number;
            }[];
        };
        FileList: {
            files: components["schemas"]["File"][];
            nextCursor: string | null;
            total: number;
        };
        FoundAccount: {
            baseUrl: string;
            label: string;
            login: string | null;
            /** @example gitea */
            providerId: string;
            providerName: string;
            returnTo: string;
            scopes: string[];
        };
        FoundConnection: {
            access: {
                /** @enum {string} */
                visibility: "private" | "members" | "workspace";
            };
            account: {
                id: string;
                label: string;
            } | null;
            isNewInstead: boolean;
            scopes: string[];
            serverHost: string;
            serverId: string;
            serverName: string;
        };
        Grant: {
            clientId: string;
            clientName: string;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            documentReadAt: string | null;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            expiresAt: string;
            id: string;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            lastUsedAt: string | null;
            place: string;
            scopes: components["schemas"]["Scope"][];
        };
        Group: {
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            createdAt: string;
            groupIds: string[];
            id: string;
            isClosed: boolean;
            memberIds: string[];
            name: string;
            openedByOthers?: components["schemas"]["Opening"][];
            ownerId: string | null;
        };
        /** @enum {string} */
        IndexState: "indexed" | "unsearchable" | "pending" | "failed" | "held";
        Instance: {
            baseUrl: string;
            providerId: string;
            /** @enum {string} */
            setBy: "workspace" | "operator";
        };
        Invitation: {
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            acceptedAt: string | null;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            createdAt: string;
            email: string;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            expiresAt: string;
            id: string;
            invitedBy: string;
            role: components["schemas"]["Role"];
        };
        InvitationOffer: {
            email: string;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            expiresAt: string;
            inviterName: string | null;
            workspaceName: string;
        };
        /** @enum {string} */
        ItemKind: "task" | "file" | "page" | "message";
        ItemPerson: {
            claimed: boolean;
            entityId: string | null;
            name: string;
        };
        LinkNotice: {
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            at: string;
            by: string | null;
            connector: string | null;
            count: number;
            isEnded: boolean;
            member: string | null;
            person: {
                name: string | null;
                principal: string;
                providerId: string;
            };
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "person_linked" | "person_unlinked" | "people_linked";
        };
        LiveAnswer: {
            connections: {
                connectionId: string;
                /** @enum {string|null} */
                problem: "timeout" | "needs_reauth" | "tool_changed" | "not_agreed" | "refused" | "rate_limited" | "unavailable" | "not_asked" | null;
                server: string;
            }[];
            hits: components["schemas"]["LiveHit"][];
        };
        LiveHit: {
            connectionId: string;
            server: string;
            text: string;
            title: string;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            updatedAt: string | null;
            url: string | null;
        };
        LocalRoot: {
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            createdAt: string | null;
            createdBy: string | null;
            id: string | null;
            path: string;
        };
        MappingFault: {
            /** @enum {string} */
            reason: "tool_gone" | "tool_changed" | "argument_missing" | "argument_unknown";
            /** @enum {string} */
            role: "list" | "search" | "fetch";
            tool: string;
        };
        MappingPreview: {
            entries?: {
                id: string;
                mimeType?: string;
                text?: string;
                title: string;
                /**
                 * Format: date-time
                 * @example 2026-11-21T09:30:00.000Z
                 */
                updatedAt?: string;
                url?: string;
            }[];
            text?: string;
        };
        Member: {
            email: string;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            joinedAt: string;
            name: string;
            role: components["schemas"]["Role"];
            userId: string;
        };
        Metadata: {
            [key: string]: unknown;
        };
        MyWorkspace: {
            current: boolean;
            id: string;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            joinedAt: string;
            name: string;
            role: components["schemas"]["Role"];
        };
        Notice: components["schemas"]["AccountNotice"] | components["schemas"]["LinkNotice"] | components["schemas"]["EventTargetNotice"] | components["schemas"]["ToolsNotice"];
        OAuthError: {
            error: string;
            error_description?: string;
        } & {
            [key: string]: unknown;
        };
        OpenedIntent: {
            app: string;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            expiresAt: string;
            id: string;
            isReconnect: boolean;
            /** @enum {string} */
            kind: "sign_in" | "elicitation";
            name: string;
            opensHost: string;
            returnTo: string;
            scopes: string[];
            serverHost: string;
            serverId: string;
            serverName: string;
        };
        Opening: {
            /** @example group.changed */
            action: string;
            added: {
                named: {
                    id: string;
                    name: string | null;
                }[];
                others: number;
            };
            after: {
                named: {
                    id: string;
                    name: string | null;
                }[];
                others: number;
            } | null;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            at: string;
            before: {
                named: {
                    id: string;
                    name: string | null;
                }[];
                others: number;
            } | null;
            by: {
                id: string;
                name: string | null;
            } | null;
            items: number | null;
            target: {
                id: string;
                name: string | null;
            };
            times: number;
        };
        PeopleSummary: {
            canLink: boolean;
            groups: number;
            lastSync: components["schemas"]["Sync"] | null;
            linked: number;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            oldestGroupAt: string | null;
            users: number;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            wholeAt: string | null;
        };
        Problem: {
            code: string;
            detail: string;
            errors?: {
                message: string;
                path: string;
            }[];
            field?: string;
            hint?: string;
            requestId: string;
            status: number;
            title: string;
            type: string;
        };
        ProviderServer: {
            apps: string[] | null;
            auth: {
                clientId?: string;
                hasSecret: boolean;
                headerName?: string;
                /** @enum {string} */
                kind: "none" | "bearer" | "header" | "oauth";
                redirectUrl?: string;
            };
            capabilities: {
                completions: boolean;
                listChanged: boolean;
                resources: boolean;
                subscribe: boolean;
                tools: boolean;
            } | null;
            /** @enum {string} */
            connectPolicy: "admins" | "members";
            counts: {
                apps: number;
                connections: number;
                connectors: number;
            };
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            createdAt: string;
            createdBy: {
                id: string;
                name: string;
            };
            enabled: boolean;
            health: {
                /**
                 * Format: date-time
                 * @example 2026-11-21T09:30:00.000Z
                 */
                checkedAt: string | null;
                /** @enum {string} */
                status: "healthy" | "degraded" | "down" | "unknown";
            };
            id: string;
            name: string;
            protocolVersion: string | null;
            serverInfo: {
                name: string;
                title?: string;
                version: string;
            } | null;
            url: string;
        };
        PushResult: {
            error?: {
                code: string;
                message: string;
            };
            externalId: string | null;
            line: number;
            notes?: string[];
            /** @enum {string} */
            result: "upserted" | "unchanged" | "removed" | "held" | "absent" | "failed" | "acl_unknown" | "error";
        };
        PushUpload: {
            connectorId: string;
            counts: {
                absent: number;
                acl_unknown: number;
                error: number;
                failed: number;
                held: number;
                removed: number;
                unchanged: number;
                upserted: number;
            };
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            expiresAt: string;
            failures: {
                code: string;
                externalId: string | null;
                line: number | null;
                message: string;
                result: string;
            }[];
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            finishedAt: string | null;
            id: string;
            lines: number;
            /** @enum {string} */
            mode: "add" | "set";
            name: string | null;
            /** @enum {string} */
            state: "open" | "ending" | "done" | "superseded" | "expired";
            sweepRefused: string | null;
            swept: {
                held: number;
                removed: number;
            } | null;
        };
        ResetOffer: {
            email: string;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            expiresAt: string;
        };
        /** @enum {string} */
        Role: "owner" | "admin" | "member";
        RpcAnswer: {
            error?: {
                code: number;
                data?: {
                    code?: string;
                    requestId?: string;
                } & {
                    [key: string]: unknown;
                };
                message: string;
            };
            id: string | number | null;
            /** @enum {string} */
            jsonrpc: "2.0";
            result?: {
                [key: string]: unknown;
            };
        };
        RpcRequest: {
            id?: string | number;
            /** @enum {string} */
            jsonrpc: "2.0";
            method: string;
            params?: {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        /** @enum {string} */
        Scope: "mcp:read" | "kb:api" | "kb:admin";
        SearchAnswer: {
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            asOf: string;
            corrected?: string;
            facets?: {
                [key: string]: {
                    assigned?: number;
                    count: number;
                    name?: string;
                    value: string;
                }[];
            };
            live?: components["schemas"]["LiveAnswer"];
            /** @enum {string} */
            match: "all" | "any";
            nextCursor: string | null;
            notes: string[];
            /** @enum {string} */
            order: "relevance" | "recency" | "due";
            ranking?: {
                averageLength: number;
                factors: {
                    does: string;
                    factor: string;
                    weight: number;
                }[];
                feedback: string[];
                items: number;
            };
            results: components["schemas"]["SearchResult"][];
            returned: number;
            tookMs: number;
            total: number;
            totalIsExact: boolean;
        };
        SearchResult: {
            assignees: components["schemas"]["ItemPerson"][];
            author: components["schemas"]["ItemPerson"] | null;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            dueAt: string | null;
            explanation?: components["schemas"]["Explanation"];
            fields: {
                [key: string]: components["schemas"]["FieldValue"];
            };
            highlights: {
                end: number;
                start: number;
            }[];
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            indexedAt: string;
            kbId: string;
            key: string | null;
            kind: components["schemas"]["ItemKind"];
            path: string[];
            priority: string | null;
            providerId: string;
            section: string | null;
            sectionUrl: string | null;
            snippet: string;
            source: string;
            /** @enum {string|null} */
            status: "open" | "done" | null;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            textAsOf: string | null;
            title: string;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            updatedAt: string | null;
            url: string | null;
        };
        Sent: {
            /** @enum {boolean} */
            sent: true;
        };
        ServerApp: {
            auth: ("oauth" | "api_key" | "none")[];
            categories: string[];
            connected: {
                mine: number;
                shared: number;
            };
            content: {
                fetch: boolean;
                resources: boolean;
                search: boolean;
            };
            description: string;
            fields?: {
                [key: string]: unknown;
            };
            iconUrl: string | null;
            name: string;
            slug: string;
        };
        ServerHealth: {
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            checkedAt: string | null;
            connections: {
                active: number;
                failed: number;
                needsReauth: number;
            };
            consecutiveFailures: number;
            lastProblem: components["schemas"]["ServerProblem"] & (Record<string, never> | null);
            latencyMs: number | null;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            nextCheckAt: string | null;
            /** @enum {string} */
            status: "healthy" | "degraded" | "down" | "unknown";
        };
        ServerProblem: {
            code: string;
            message: string;
            metadata?: {
                expected: string | null;
                /** @enum {string} */
                field: "metadata" | "resource" | "authorization_servers" | "issuer" | "code_challenge_methods_supported" | "authorization_endpoint" | "token_endpoint" | "registration_endpoint" | "revocation_endpoint";
                found: string | null;
                /** @enum {string} */
                problem: "missing" | "differs" | "unusable";
            };
            step: string;
        };
        ServerTest: {
            authRequired?: {
                authorizationServers: string[];
                needsClient?: boolean;
                problem?: components["schemas"]["ServerProblem"];
                scopes: string[];
            };
            capabilities?: {
                completions: boolean;
                listChanged: boolean;
                resources: boolean;
                subscribe: boolean;
                tools: boolean;
            };
            ok: boolean;
            protocolVersion?: string;
            serverInfo?: {
                name: string;
                title?: string;
                version: string;
            };
            steps: {
                ms: number;
                ok: boolean;
                problem?: components["schemas"]["ServerProblem"];
                /** @enum {string} */
                step: "resolve" | "connect" | "initialize" | "auth" | "tools" | "resources";
            }[];
        };
        ServerTools: {
            faults: components["schemas"]["MappingFault"][];
            leftOut: number;
            mapping: {
                fetch?: {
                    args: {
                        [key: string]: unknown;
                    };
                    argument?: string;
                    tool: string;
                };
                list?: {
                    args: {
                        [key: string]: unknown;
                    };
                    argument?: string;
                    tool: string;
                };
                search?: {
                    args: {
                        [key: string]: unknown;
                    };
                    argument?: string;
                    tool: string;
                };
            } | null;
            tools: {
                arguments: {
                    description?: string;
                    isRequired: boolean;
                    name: string;
                    type?: string;
                    values?: string[];
                }[];
                description?: string;
                isReadOnly: boolean;
                name: string;
                title?: string;
            }[];
        };
        Session: {
            /** @enum {string} */
            mode: "self-hosted" | "managed";
            notices: components["schemas"]["Notice"][];
            role: components["schemas"]["Role"];
            scopes: components["schemas"]["Scope"][];
            /** @enum {string} */
            signup: "invite" | "open" | "closed";
            user: components["schemas"]["User"];
            workspace: components["schemas"]["Workspace"];
        };
        SessionRecord: {
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            createdAt: string;
            current: boolean;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            expiresAt: string;
            id: string;
            ip: string | null;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            lastSeenAt: string;
            userAgent: string | null;
        };
        SourceKind: {
            /** @enum {string} */
            acl: "per_item" | "container" | "connector";
            /** @enum {string} */
            auth: "none" | "credentials" | "account" | "connection" | "key";
            authTypes: ("none" | "credentials" | "account" | "connection" | "key")[];
            available: boolean;
            capabilities: ("sync" | "browse" | "content" | "push" | "scope" | "webhook")[];
            configSchema: {
                [key: string]: unknown;
            };
            credentialsSchema?: {
                [key: string]: unknown;
            };
            isForOwner?: boolean;
            kinds: components["schemas"]["ItemKind"][];
            name: string;
            providerId: string;
            reason?: string;
        };
        SourceProblem: {
            /** @enum {string} */
            code: "auth_required" | "config" | "names_nobody" | "names_strangers" | "quota_reached" | "source_error" | "unreachable" | "invalid_request" | "unauthenticated" | "forbidden" | "insufficient_scope" | "not_found" | "method_not_allowed" | "request_timeout" | "conflict" | "gone" | "payload_too_large" | "unsupported_media_type" | "unprocessable" | "nothing_to_read" | "rate_limited" | "headers_too_large" | "internal" | "source_unavailable" | "unavailable" | "storage_full" | "loop_detected" | "loop" | "two_credentials" | "credential_in_url" | "host_not_allowed" | "origin_not_allowed" | "sign_in_failed" | "recent_sign_in_required" | "role_too_low" | "group_closed" | "onboarding_closed" | "onboarding_needed" | "setup_code_invalid" | "invitation_invalid" | "email_taken" | "already_member" | "group_cycle" | "unknown_member" | "unknown_person" | "instance_not_trusted" | "unknown_group" | "password_too_weak" | "last_owner" | "sign_up_closed" | "link_invalid" | "mail_not_configured" | "mail_failed" | "already_verified" | "workspace_limit_reached" | "sso_not_configured" | "account_provider_not_configured" | "account_taken" | "account_differs" | "sso_failed" | "consent_invalid" | "password_needed" | "password_wrong" | "token_limit_reached" | "already_created" | "idempotency_key_reused" | "invalid_cursor" | "invalid_argument" | "unknown_argument" | "no_such_person" | "no_text" | "original_masked" | "past_end" | "no_such_section" | "provider_unknown" | "provider_unavailable" | "connector_config_invalid" | "connector_scope_invalid" | "connector_check_failed" | "connector_state_conflict" | "credential_required" | "visibility_not_supported" | "root_not_allowed" | "sync_not_running" | "push_line_invalid" | "push_upload_over" | "push_upload_incomplete" | "push_cut" | "principal_not_allowed" | "server_exists" | "server_has_connections" | "server_config_invalid" | "server_check_failed" | "server_disabled" | "app_unknown" | "intent_required" | "intent_not_needed" | "connection_failed" | "agreement_required" | "source_unauthorized" | "source_rate_limited" | "source_not_found" | "source_forbidden" | "source_gone" | "cursor_expired" | "source_changed" | "address_not_allowed" | "data_folder_unusable" | "data_folder_in_use" | "database_unusable" | "database_damaged" | "port_in_use" | "restart_needed" | "schema_too_new" | "search_timeout" | "search_overloaded" | "settings_invalid" | "secret_unreadable" | "resources_exhausted";
            field?: string;
            hint?: string;
            message: string;
            retryAfterMs?: number;
        };
        SourceUser: {
            email: string | null;
            /** @enum {string|null} */
            linkedBy: "account" | "email" | "admin" | null;
            login: string | null;
            member: {
                id: string;
                name: string;
            } | null;
            name: string | null;
            principal: string;
            /** @enum {string|null} */
            reason: "suspended" | "gone" | "instance_not_registered" | "connector_not_admin_made" | "email_missing" | "email_not_verified" | "email_domain_not_listed" | "no_match" | null;
            /** @enum {string} */
            state: "active" | "suspended" | "gone";
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            toldAt: string;
        };
        SsoIdentity: {
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            createdAt: string;
            issuer: string;
            label: string;
        };
        Status: {
            /** @enum {string} */
            status: "ok";
        };
        Sync: {
            attempt: number;
            connectorId: string;
            counts: {
                bytes: number;
                datesLeftOut?: number;
                deleted: number;
                failed: number;
                faults?: number;
                parentMissing: number;
                reasons?: {
                    [key: string]: number;
                };
                requests?: number;
                seen: number;
                skipped: number;
                unchanged: number;
                upserted: number;
            };
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            finishedAt: string | null;
            id: string;
            /** @enum {string} */
            mode: "full" | "incremental" | "access" | "identities" | "items";
            people: {
                problem: components["schemas"]["SourceProblem"] | null;
                /** @enum {string} */
                state: "waiting" | "read" | "partial" | "failed";
                syncId: string;
            } | null;
            problem: components["schemas"]["SourceProblem"] | null;
            progress: {
                done: number;
                note: string | null;
                total: number | null;
            };
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            resumeAt: string | null;
            skips: {
                externalId: string | null;
                message: string | null;
                reason: string;
                retryable: boolean;
            }[];
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            startedAt: string | null;
            /** @enum {string} */
            state: "queued" | "running" | "waiting" | "cancelling" | "succeeded" | "partial" | "failed" | "cancelled";
            /** @enum {string} */
            trigger: "manual" | "schedule" | "webhook" | "watch" | "retry" | "reader";
        };
        Token: {
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            expiresAt: string | null;
            grantId: string | null;
            id: string;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            lastUsedAt: string | null;
            name: string;
            prefix: string;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            revokedAt: string | null;
            scopes: components["schemas"]["Scope"][];
        };
        ToolsNotice: {
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            at: string;
            by: string | null;
            connection: string;
            connectionId: string;
            server: string;
            serverId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "tools_changed";
        };
        User: {
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            createdAt: string;
            email: string;
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            emailVerifiedAt: string | null;
            id: string;
            name: string;
            timeZone: string | null;
        };
        Workspace: {
            /**
             * Format: date-time
             * @example 2026-11-21T09:30:00.000Z
             */
            createdAt: string;
            id: string;
            name: string;
            /** @enum {string} */
            secrets: "mask" | "index";
            timeZone: string;
        };
        WorkspaceSettings: components["schemas"]["Workspace"] & {
            identityDomains: string[];
            instances: components["schemas"]["Instance"][];
            maxAclAgeHours: number;
        };
    };
    responses: {
        /** @description Conflict: `idempotency_key_reused`, `already_created` */
        Conflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Headers too large: `headers_too_large` */
        HeadersTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Insufficient storage: `storage_full` */
        InsufficientStorage: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Internal error: `internal` */
        InternalError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Invalid request: `invalid_request`, `credential_in_url`, `two_credentials`, `invalid_cursor` */
        InvalidRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Not allowed: `host_not_allowed`, `forbidden`, `insufficient_scope`, `origin_not_allowed` */
        NotAllowed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Not found: `not_found` */
        NotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Not signed in: `unauthenticated` */
        NotSignedIn: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Request timeout: `request_timeout` */
        RequestTimeout: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Too large: `payload_too_large` */
        TooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Too many requests: `rate_limited` */
        TooManyRequests: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Unavailable: `unavailable`, `database_unusable`, `database_damaged`, `restart_needed`, `resources_exhausted` */
        Unavailable: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Unsupported media type: `unsupported_media_type` */
        UnsupportedMediaType: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listConnectorFiles: {
        parameters: {
            query?: {
                cursor?: string;
                indexState?: components["schemas"]["IndexState"];
                kind?: components["schemas"]["ItemKind"];
                limit?: number;
                providerId?: string;
                q?: string;
                sort?: "updatedAt" | "title";
                source?: string;
                textReason?: "unsupported_type" | "too_large" | "empty" | "encrypted" | "excluded_by_scope" | "excluded_by_policy" | "generated" | "acl_unknown" | "over_quota" | "failed";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of items */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileList"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["NotAllowed"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAllFiles: {
        parameters: {
            query?: {
                connectorId?: string;
                cursor?: string;
                indexState?: components["schemas"]["IndexState"];
                kind?: components["schemas"]["ItemKind"];
                limit?: number;
                providerId?: string;
                q?: string;
                sort?: "updatedAt" | "title";
                source?: string;
                textReason?: "unsupported_type" | "too_large" | "empty" | "encrypted" | "excluded_by_scope" | "excluded_by_policy" | "generated" | "acl_unknown" | "over_quota" | "failed";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of items */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileList"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["NotAllowed"];
            /** @description Not found: `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    countFilesBySource: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The counts */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileCounts"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["NotAllowed"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description kbId, permalink or URL of the item, issue key, or a file name, path or title that matches only one item the caller can see; percent-encoded. */
                fileId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The item */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        file: components["schemas"]["File"];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["NotAllowed"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getFileAccess: {
        parameters: {
            query?: {
                userId?: string;
            };
            header?: never;
            path: {
                fileId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The chain that grants or refuses */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileAccess"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["NotAllowed"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getFileContent: {
        parameters: {
            query?: {
                find?: string;
                /** @description Applies to the text; can't be combined with `original=true`. */
                limit?: number;
                /** @description Applies to the text; can't be combined with `original=true`. */
                offset?: number | null;
                original?: "true" | "false";
                section?: string;
            };
            header?: never;
            path: {
                /** @description kbId, permalink or URL of the item, issue key, or a file name, path or title that matches only one item the caller can see; percent-encoded. */
                fileId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The text (`X-Total-Chars` holds its full length; `X-Text-As-Of`, if present, since when the content can't be read), or the original as an attachment */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                    "text/markdown": string;
                    "text/plain": string;
                };
            };
            /** @description Unchanged since the given ETag */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Invalid request: `invalid_request`, `credential_in_url`, `two_credentials`, `past_end` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["NotAllowed"];
            /** @description Not found: `not_found`, `no_such_section` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["RequestTimeout"];
            /** @description Conflict: `source_changed` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Cannot be processed: `no_text`, `source_not_found`, `address_not_allowed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            /** @description Source unavailable: `source_unavailable`, `source_unauthorized`, `source_rate_limited` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: components["responses"]["Unavailable"];
        };
    };
    searchItems: {
        parameters: {
            query?: {
                /** @description 2026-11-01, 2026-11, today, 7d (ago), +7d (ahead). */
                after?: string;
                /** @description me, name, email or entityId. */
                assignee?: string;
                /** @description 2026-11-01, 2026-11, today, 7d (ago), +7d (ahead). */
                before?: string;
                cursor?: string;
                dateField?: "updated" | "created" | "due";
                detail?: "concise" | "detailed";
                /** @description Also says how each score came about. For admins, with the scope kb:admin. */
                explain?: "true" | "false";
                /** @description Counts per value besides the results; repeat it for more. */
                facets?: ("kind" | "source" | "person" | "status" | "month")[];
                /** @description Field and value, as in status:draft or created:2024-03; repeat it for more. */
                field?: string[];
                /** @description Counts per value instead of results. */
                groupBy?: "kind" | "source" | "person" | "status" | "month";
                kind?: components["schemas"]["ItemKind"];
                limit?: number;
                /** @description Also asks the search tools behind your own connections, for a second at most. */
                live?: "true" | "false";
                /** @description me, name, email or entityId, in any role. */
                people?: string;
                /** @description As the source calls it: high, P1. */
                priority?: string;
                query?: string;
                sortBy?: "relevance" | "recency" | "due";
                /** @description Provider, place (github:acme/web), connector ID, entityId, kbId or URL of a container. */
                source?: string;
                status?: "open" | "done";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The matching items that the caller can see */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchAnswer"];
                };
            };
            /** @description Invalid request: `invalid_request`, `credential_in_url`, `two_credentials`, `invalid_cursor`, `invalid_argument`, `no_such_person` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["NotSignedIn"];
            /** @description Not allowed: `host_not_allowed`, `forbidden`, `insufficient_scope` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            /** @description Unavailable: `unavailable`, `database_unusable`, `database_damaged`, `restart_needed`, `resources_exhausted`, `search_timeout` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listEntities: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                q?: string;
                type?: "person" | "project" | "repository" | "channel" | "label" | "team" | "space" | "folder";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Entities in items that the caller can see */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        entities: components["schemas"]["Entity"][];
                        nextCursor: string | null;
                        total: number;
                    };
                };
            };
            /** @description Invalid request: `invalid_request`, `credential_in_url`, `two_credentials`, `invalid_cursor`, `invalid_argument` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["NotAllowed"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getEntityContext: {
        parameters: {
            query?: {
                after?: string;
                kind?: components["schemas"]["ItemKind"];
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What visible items say about it */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityContext"];
                };
            };
            /** @description Invalid request: `invalid_request`, `credential_in_url`, `two_credentials`, `invalid_argument`, `no_such_person` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["NotAllowed"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
}
