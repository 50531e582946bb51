import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { makeQueryClient } from "./data/queries.ts";
import { takeLinkToken } from "./data/link-token.ts";
import { makePageRouter } from "./router.tsx";
import "./style.css";
import { Toasts } from "./ui/toast.tsx";

// This runs before the router reads the address, so that a link's secret is removed from the address bar first.
takeLinkToken();

const root = document.querySelector("#root");
if (root === null) throw new Error("index.html has no #root.");
createRoot(root).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={makeQueryClient()}>
        <RouterProvider router={makePageRouter()} />
        <Toasts />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
