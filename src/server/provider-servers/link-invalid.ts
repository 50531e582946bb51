import { ApiError } from "#api/errors.ts";

export function linkInvalid(): ApiError {
  return new ApiError("link_invalid", {
    message: "This request is more than 10 minutes old or was already answered. Connect the app again.",
  });
}
